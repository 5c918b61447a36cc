"""Errors of the engine, caught by this package's classes and by LangChain's."""

import copy
import pickle

import pytest
from langchain_core import exceptions as core

from raif_integrations import errors
from raif_integrations.langchain import errors as langchain_errors
from tests.langchain.chats import chat
from tests.support.scripted_engine import Reply

PAIRS = [
    (errors.ContextLengthError, core.ContextOverflowError),
    (errors.AuthenticationError, core.ModelAuthenticationError),
    (errors.EngineTimeoutError, core.ModelTimeoutError),
    (errors.EngineRateLimitError, core.ModelRateLimitError),
    (errors.EngineConnectionError, core.ModelConnectionError),
    (errors.EngineDiedError, core.ModelConnectionError),
    (errors.ModelNotFoundError, core.ModelNotFoundError),
    (errors.RequestError, core.ModelInvalidRequestError),
    (errors.ServerError, core.ModelAPIError),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
async def test_an_engine_error_is_both_on_every_path(ours, theirs):
    model = chat(lambda request: ours("It failed.", hint="Try again."))
    with pytest.raises(theirs) as caught:
        model.invoke("hi")
    assert isinstance(caught.value, ours)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "It failed. Try again."
    assert caught.value.is_retryable == ours.retryable
    with pytest.raises(theirs):
        await model.ainvoke("hi")
    with pytest.raises(theirs):
        list(model.stream("hi"))
    with pytest.raises(theirs):
        [chunk async for chunk in model.astream("hi")]


def test_an_error_in_the_middle_of_a_stream_comes_after_the_text():
    model = chat([Reply("abcdefgh", error=errors.EngineDiedError("The engine is gone."))])
    stream = model.stream("hi")
    assert [next(stream).content, next(stream).content] == ["abcd", "efgh"]
    with pytest.raises(core.ModelConnectionError, match="gone"):
        next(stream)


def test_other_errors_pass_as_they_are():
    error = errors.EngineClosedError("The engine was closed.")
    with pytest.raises(errors.EngineClosedError) as caught:
        chat([error]).invoke("hi")
    assert caught.value is error


def test_what_a_retry_can_help_is_retried_by_langchains_own_retry():
    replies = [errors.ServerError("busy"), "fine"]
    model = chat(replies).with_retry(
        retry_if_exception_type=(core.ModelAPIError,), wait_exponential_jitter=False
    )
    assert model.invoke("hi").content == "fine"


ALL = {
    made
    for made in (*vars(errors).values(), *vars(langchain_errors).values())
    if isinstance(made, type) and issubclass(made, errors.RaifIntegrationsError)
}


@pytest.mark.parametrize("made", sorted(ALL, key=str), ids=str)
def test_errors_cross_processes(made):
    """A worker pool hangs for ever on an error that cannot be unpickled."""
    error = made("It failed.", hint="Do this.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is made
    assert (str(again), again.hint) == (str(error), "Do this.")
    assert str(copy.copy(error)) == str(error)
