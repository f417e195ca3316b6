import { expect, test } from 'vitest'
import { NEW_WORK, WORK_STATE, type Work } from '../../src/core/tree.ts'
import { NO_SPECS } from '../../src/engine/cache/spec-cache.ts'
import { type SliceOptions, TreeSlice } from '../../src/engine/slice/tree-slice.ts'
import { TrackedObject } from '../../src/engine/tracked-object.ts'

const NOW = new Date(1_000_000)
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000)

function withWork(parentId: string | null, patch: Partial<Work>) {
  const place = { id: 'one', rootId: 'root', parentId, projectId: 'p', name: 'one', ordinal: 0, waitingFor: 0 }
  const root = TrackedObject.created({ ...place, kind: 'INSTALLATION' }, 'PENDING', NOW)
  const options = { projectName: 'p', root, now: NOW, evaluated: new Map(), specs: NO_SPECS } as unknown as SliceOptions
  const slice = new TreeSlice(options)
  const own = { type: 'any', target: null, action: 'RUN', config: null, handedConfig: null, handed: false } as const
  slice.setWork(root, { ...NEW_WORK, ...own, state: WORK_STATE.CLAIMED, jobId: null, triggeredAt: NOW, ...patch })
  return { slice, root }
}

test.each([
  ['of an agent', 'root', { leaseUntil: at(30) }],
  ['of an agent on a root', null, { leaseUntil: at(30) }],
  ['for a CRM, which has no lease', 'root', {}],
] as const)('a clock leaves the timeout of work %s', (_, parentId, patch) => {
  const { slice, root } = withWork(parentId, { ...patch, dueAt: at(60) })
  slice.setClock(root, at(10))
  expect([root.clock, root.work?.dueAt, root.work?.state]).toEqual([at(10), at(60), WORK_STATE.CLAIMED])
  expect(slice.due).toEqual(at(10))
})

test('a clock takes the place of one that the version before keeps in work of a root', () => {
  const { slice, root } = withWork(null, { dueAt: at(60) })
  slice.setClock(root, at(60))
  expect([root.clock, root.work?.dueAt, root.work?.state]).toEqual([at(60), null, WORK_STATE.DONE])
})
