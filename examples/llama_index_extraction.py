"""From a document to nodes with typed metadata and a small property graph, with LlamaIndex.

    python examples/llama_index_extraction.py
    python examples/llama_index_extraction.py --text "Ines Diaz is a 40 year old pilot from Lima."
    python examples/llama_index_extraction.py --base-url http://localhost:8000/v1 --adapter raif

The small model reads sentences of the kinds its adapter was trained on; give ``--model`` and
``--adapter`` for one that reads anything.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, Literal, cast

# Set before vLLM is imported: errors only, so that the answers stay readable.
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

from llama_index.core import Document
from llama_index.core.extractors import PydanticProgramExtractor
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import LabelledNode
from llama_index.core.indices.property_graph import SchemaLLMPathExtractor
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.schema import BaseNode, MetadataMode, TextNode
from pydantic import BaseModel, Field, create_model

from model_options import add_model_options, model_settings
from raif_integrations import RaifVLLM
from raif_integrations.engines.base import Engine

PEOPLE = (
    "Alice Berg is a 34 year old nurse from Oslo.",
    "Omar Khan is a 51 year old chef from Cairo.",
)
RELATIONS = (
    "The object name is Acme. The object type is COMPANY. The relation type is WORKS_AT. "
    "The subject name is Alice Berg. The subject type is PERSON."
)


class Person(BaseModel):
    """Metadata of a node that is about a person."""

    name: str
    age: int
    job_title: str
    city: str


def nodes_with_metadata(llm: RaifVLLM, texts: Sequence[str] = PEOPLE) -> list[BaseNode]:
    """Splits documents into nodes and has the model fill each node's metadata."""
    program = FunctionCallingProgram.from_defaults(output_cls=Person, prompt_template_str="{input}", llm=llm)
    extractor = PydanticProgramExtractor(program=program, input_key="input", show_progress=False)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), extractor])
    return list(pipeline.run(documents=[Document(text=text) for text in texts]))


def property_graph(llm: RaifVLLM, text: str = RELATIONS) -> SimplePropertyGraphStore:
    """Has the model write the relations of a text, and keeps those the schema allows."""
    extractor = SchemaLLMPathExtractor(
        llm=llm,
        extract_prompt="{text}",
        # LlamaIndex takes a Literal here, though it annotates a class.
        possible_entities=cast(Any, Literal["PERSON", "COMPANY"]),
        possible_relations=cast(Any, Literal["WORKS_AT"]),
        kg_validation_schema=[("PERSON", "WORKS_AT", "COMPANY")],
        raise_on_error=True,
    )
    # The text holds a relation, so the schema asks for one at least; the model can write nothing less.
    schema = extractor.kg_schema_cls
    triplets = (schema.model_fields["triplets"].annotation, Field(min_length=1))
    extractor.kg_schema_cls = create_model(schema.__name__, __base__=schema, triplets=triplets)
    (node,) = extractor([TextNode(text=text)])
    graph = SimplePropertyGraphStore()
    graph.upsert_nodes(node.metadata["nodes"])
    graph.upsert_relations(node.metadata["relations"])
    return graph


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--text", action="append", dest="texts", help="document about a person; may be repeated"
    )
    parser.add_argument("--relations", default=RELATIONS, help="text to read the graph from")
    add_model_options(parser)
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, engine: Engine | None = None) -> None:
    """Extracts and prints.

    Args:
        given: The command line, or ``None`` for the program's own.
        engine: An engine that runs already, in place of one of its own.
    """
    options = arguments(given)
    llm = RaifVLLM(**model_settings(options, engine), max_tokens=300)
    if engine is None and not options.base_url:
        print("Loading the model (about a minute on a CPU)", flush=True)
    nodes = nodes_with_metadata(llm, options.texts or PEOPLE)
    print("Nodes")
    for node in nodes:
        print(f"  {node.get_content(MetadataMode.NONE)}")
        print(f"    {Person.model_validate(node.metadata)!r}")
    triplets = property_graph(llm, options.relations).get_triplets(relation_names=["WORKS_AT"])
    print(f"Graph\n  {options.relations}")
    for subject, relation, target in triplets:
        print(f"    {named(subject)} -[{relation.label}]-> {named(target)}")


def named(node: LabelledNode) -> str:
    """An entity and its kind, as ``Alice Berg (PERSON)``."""
    return f"{node.id} ({node.label})"


# vLLM starts processes that import this file again; only the first may run it.
if __name__ == "__main__":
    main()
