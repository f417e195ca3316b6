import { LIMITS as INPUT } from '../core/limits.ts'

/** Limits of one job. Sizes are characters of JSON as bounds of inputs count them, times milliseconds. */
export const LIMITS = {
  /** Processor time of one job (one expression, one template, one validation). */
  jobMs: 100,
  /** Wall time of a job that has hardly had the processor. */
  stalledMs: 500,
  /** Heap of the worker. */
  heapMb: 64,
  /** Syntax nodes of one expression, macros expanded. */
  nodes: 500,
  /** Nesting of comprehensions. */
  macros: 2,
  /** All expressions of one template together. */
  source: 64 * 1024,
  /** A template, what it becomes, and any text or bytes that an expression builds meanwhile: the same as of a config without expressions. */
  output: INPUT.json.max,
  /** The scope of a template, and its text. */
  scope: 4 * 1024 * 1024,
  /** A validated value. */
  value: INPUT.json.max,
  /** A JSON Schema. */
  schema: INPUT.schema.max,
  /** Nesting of arrays and objects, in input and output. */
  depth: 64,
} as const
