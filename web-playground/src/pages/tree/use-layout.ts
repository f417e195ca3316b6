import { useCallback, useEffect, useState } from 'react'
import { type Layout, Layouts } from '../../ui/layout.ts'
import type { Nested } from '../../ui/nested.ts'

interface Laid<G> {
  /** The graph whose layout this is: the shown one, until that of a newer graph is there. */
  readonly graph: G
  readonly nested: Nested
}
interface LayoutState<G> {
  readonly laid: Laid<G> | null
  readonly error: string | null
  readonly retry: () => void
}

/** Lays graphs out in a worker, beside the page, and shows the last one until the next is there. */
export function useLayout<G>(graph: G, layout: Layout): LayoutState<G> {
  const [laid, setLaid] = useState<Laid<G> | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [layouts, setLayouts] = useState<Layouts | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another worker
  useEffect(() => {
    const worker = new Worker(new URL('../../ui/layout-worker.ts', import.meta.url), { type: 'module' })
    setLayouts(new Layouts(worker))
    return () => worker.terminate()
  }, [attempt])
  useEffect(() => {
    layouts?.request(layout, {
      laid: (nested) => {
        setError(null)
        setLaid({ graph, nested })
      },
      failed: setError,
    })
  }, [layouts, graph, layout])
  const retry = useCallback(() => {
    setError(null)
    setAttempt((number) => number + 1)
  }, [])
  return { laid, error, retry }
}
