/** Limits of one job. Sizes are characters of JSON text, times milliseconds. */
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
  /** A resolved template, and any text or bytes that an expression builds meanwhile. */
  output: 256 * 1024,
  /** The scope of a template. */
  scope: 4 * 1024 * 1024,
  /** A validated value. */
  value: 1024 * 1024,
  /** A JSON Schema. */
  schema: 64 * 1024,
  /** Nesting of arrays and objects, in input and output. */
  depth: 64,
} as const
