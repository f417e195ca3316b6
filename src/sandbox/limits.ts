/** What one job may cost. Sizes are characters of JSON text, times milliseconds. */
export const LIMITS = {
  /** Of one job (one expression, one template, one validation), on a machine that has time for it. */
  jobMs: 100,
  /** Wall time after which one is stopped that has hardly had the processor. */
  stalledMs: 500,
  /** Heap of the worker. */
  heapMb: 64,
  /** Syntax nodes of one expression, macros expanded. */
  nodes: 500,
  /** Comprehensions within each other. */
  macros: 2,
  /** All expressions of one template together. */
  source: 64 * 1024,
  /** A resolved template, and any text or bytes that an expression puts together on the way. */
  output: 256 * 1024,
  /** Everything that a template may refer to. */
  scope: 4 * 1024 * 1024,
  /** A value that is validated. */
  value: 1024 * 1024,
  /** A JSON Schema. */
  schema: 64 * 1024,
  /** Levels of arrays and objects, coming in or going out. */
  depth: 64,
} as const
