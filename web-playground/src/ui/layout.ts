import type { NestedEdge } from './area.ts'
import { type Nested, type NestedNode, nested } from './nested.ts'

export interface Layout {
  readonly nodes: readonly NestedNode[]
  readonly edges: readonly NestedEdge[]
  /** Width to height of the view. */
  readonly aspect: number
}
export interface LayoutRequest {
  readonly number: number
  readonly layout: Layout
}
export type LayoutAnswer =
  | { readonly number: number; readonly nested: Nested }
  | { readonly number: number; readonly error: string }

/** Runs in the worker. */
export function answerLayout({ number, layout: { nodes, edges, aspect } }: LayoutRequest): LayoutAnswer {
  try {
    return { number, nested: nested(nodes, edges, aspect) }
  } catch (error) {
    return { number, error: String(error) }
  }
}

/** The part of a worker that layouts need. */
export interface LayoutPort {
  postMessage(request: LayoutRequest): void
  addEventListener(type: 'message' | 'error' | 'messageerror', listener: (event: Event) => void): void
}
export interface LayoutEnd {
  readonly laid: (nested: Nested) => void
  readonly failed: (message: string) => void
}

/** The name of a layout among the measures of the page, from its request to its answer. */
export const LAYOUT_MEASURE = 'graph layout'

const LOST = 'The part of the page that places them cannot be loaded.'

/** Requests layouts of a worker. The newest request wins: an answer to an older one is dropped. */
export class Layouts {
  readonly #port: LayoutPort
  #number = 0
  #begunAt = 0
  #end: LayoutEnd | null = null
  #isLost = false

  constructor(port: LayoutPort) {
    this.#port = port
    port.addEventListener('message', (event) => this.#take((event as MessageEvent<LayoutAnswer>).data))
    // The file of the worker is lost, perhaps before the first request, or it has died.
    for (const type of ['error', 'messageerror'] as const)
      port.addEventListener(type, () => {
        this.#isLost = true
        this.#end?.failed(LOST)
      })
  }

  request(layout: Layout, end: LayoutEnd): void {
    if (this.#isLost) return end.failed(LOST)
    this.#number += 1
    this.#end = end
    this.#begunAt = performance.now()
    this.#port.postMessage({ number: this.#number, layout })
  }

  #take(answer: LayoutAnswer): void {
    if (answer.number !== this.#number) return
    performance.measure(LAYOUT_MEASURE, { start: this.#begunAt })
    if ('nested' in answer) this.#end?.laid(answer.nested)
    else this.#end?.failed(answer.error)
  }
}
