"""From a document to nodes with typed metadata and a small property graph, with LlamaIndex.

    python examples/llama_index_extraction.py

The small model reads sentences of the kinds its adapter was trained on; give ``--model`` and
``--adapter`` for one that reads anything.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, Literal, cast

# Set before vLLM is imported: errors only, so that the answers stay readable.
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

from llama_index.core import Document
from llama_index.core.extractors import PydanticProgramExtractor
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.indices.property_graph import SchemaLLMPathExtractor
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.program import FunctionCallingProgram
from llama_index.core.schema import BaseNode, TextNode
from pydantic import BaseModel

import small_model
from raif_integrations import RaifVLLM

PEOPLE = (
    "Alice Berg is a 34 year old nurse from Oslo.",
    "Omar Khan is a 51 year old chef from Cairo.",
)
RELATIONS = (
    "Triplets: subject name Alice Berg, subject type PERSON, relation type WORKS_AT, "
    "object name Acme, object type COMPANY."
)
LABELS = ("PERSON", "COMPANY")


class Person(BaseModel):
    """Metadata of a node that is about a person."""

    name: str
    age: int
    job_title: str
    city: str


def nodes_with_metadata(llm: RaifVLLM, texts: tuple[str, ...] = PEOPLE) -> list[BaseNode]:
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
        kg_validation_schema=[(one, "WORKS_AT", other) for one in LABELS for other in LABELS],
        raise_on_error=True,
    )
    (node,) = extractor([TextNode(text=text)])
    graph = SimplePropertyGraphStore()
    graph.upsert_nodes(node.metadata["nodes"])
    graph.upsert_relations(node.metadata["relations"])
    return graph


def main() -> None:
    """Loads the engine, extracts, and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="model folder or hub name (default: the prepared small model)")
    parser.add_argument("--adapter", help="its RAIF adapter (default: the small model's)")
    options = parser.parse_args()
    llm = RaifVLLM(
        model=options.model or str(small_model.prepare()),
        adapter=options.adapter or (None if options.model else str(small_model.ADAPTER)),
        temperature=0.0,
        max_tokens=300,
    )
    print("Nodes")
    for node in nodes_with_metadata(llm):
        print(f"  {Person.model_validate(node.metadata)!r}")
    print("Graph")
    for subject, relation, target in property_graph(llm).get_triplets(relation_names=["WORKS_AT"]):
        print(f"  {subject.id} -[{relation.label}]-> {target.id}")


# vLLM starts processes that import this file again; only the first may run it.
if __name__ == "__main__":
    main()
