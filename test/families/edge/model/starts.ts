import { connect, deliver, receive, send } from './actions.ts'
import { finish } from './crm.ts'
import * as server from './server.ts'
import { idOf, newRecord, newRow } from './slice.ts'
import type { Place, State } from './state.ts'

/** The first states of searches. */

function bare(): State {
  const row = newRow({ id: idOf(1), rootId: idOf(1), parentId: null, kind: 'CLOUDLET', name: 'k', ordinal: 0 })
  const none = { c: null, a: null } as const
  return {
    records: [newRecord({ ...row, phase: 'INIT' }, {})],
    leases: [],
    wakes: [],
    next: 2,
    crm: { up: false, connected: false, process: 0, calls: 0, disk: none, jobs: none, failed: none, seen: [] },
    requests: [],
    reports: [],
    late: null,
    tampered: false,
  }
}

const there = <T>(state: T | null): T => {
  if (!state) throw new Error('the model does not come to its start')
  return state
}

async function made(state: State, place: Place): Promise<State> {
  const requested = send(server.runEngine(there(await server.create(state, place))))
  const [request] = requested.requests
  const finished = there(finish(receive(requested, there(request ?? null)), place, false))
  return deliver(finished, there(finished.reports[0] ?? null), false)
}

/** A cloudlet with its CRM and nothing, with a cluster instance, and with an app instance in that. */
export async function starts(): Promise<readonly State[]> {
  const empty = server.runEngine(there(await connect(bare(), { how: 'back', asks: false })))
  const cluster = await made(empty, 'c')
  return [empty, cluster, await made(cluster, 'a')]
}
