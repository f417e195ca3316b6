import { useEffect } from 'react'
import { ListStore } from '../../../data/list-store.ts'
import { ALL_OBJECTS } from '../../../model/filter.ts'
import { useLive } from '../../../ui/session-context.ts'

/** The most objects that a user can choose from. */
const MOST = 2_000

/** All READY objects of the kind, live; null during the first read. */
export function useReady(kind: 'CLOUDLET' | 'CLUSTER_INST') {
  const filter = {
    ...ALL_OBJECTS,
    kinds: [kind],
    phases: ['READY'],
    order: { field: 'NAME', direction: 'ASC' } as const,
  }
  const list = useLive(kind, (session, signal) => new ListStore(session, filter, signal))
  const count = list?.rows.length ?? 0
  const isPart = list?.loaded && !list.complete && count < MOST
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page that came
  useEffect(() => {
    if (isPart) void list?.more()
  }, [isPart, count])
  return list
}
