import type { V1Pod, V1PodStatus } from '@kubernetes/client-node'
import { describe, expect, it } from 'vitest'
import { ANNOTATIONS } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import { reachOf, stateOf } from '../../src/families/pipelines/agents/kubernetes/pod-state.ts'

/** As the API writes it: times are texts. */
const time = (second: number): Date => `2026-11-23T12:00:${String(second).padStart(2, '0')}Z` as unknown as Date
type State = NonNullable<NonNullable<V1PodStatus['containerStatuses']>[number]['state']>

const pod = (status: V1PodStatus, metadata: V1Pod['metadata'] = {}): V1Pod => ({
  metadata,
  spec: { nodeName: 'node', containers: [] },
  status,
})
const container = (state: State, more: V1PodStatus = {}): V1PodStatus => ({
  phase: state.terminated ? 'Failed' : 'Pending',
  containerStatuses: [{ name: 'workload', image: '', imageID: '', ready: false, restartCount: 0, state }],
  ...more,
})
const exited = (exitCode: number, more: Partial<State['terminated']> = {}): V1PodStatus =>
  container({ terminated: { exitCode, finishedAt: time(10), ...more } })
/** Asked for at second 20, with ten seconds of grace. */
const deleted = { deletionTimestamp: time(30), deletionGracePeriodSeconds: 10 }
const forced = { deletionTimestamp: time(20), deletionGracePeriodSeconds: 0 }
const stopped = { annotations: { [ANNOTATIONS.end]: JSON.stringify({ how: 'STOPPED' }) } }

describe('the end of a pod', () => {
  it.each<[string, V1Pod, object]>([
    ['an exit code', pod(exited(3)), { how: 'EXITED', exitCode: 3, signal: null }],
    ['a signal', pod(exited(143)), { how: 'EXITED', exitCode: null, signal: 'SIGTERM' }],
    ['out of memory', pod(exited(137, { reason: 'OOMKilled' })), { how: 'EXITED', outOfMemory: true }],
    ['no such command', pod(exited(128, { reason: 'StartError' })), { how: 'NOT_STARTED' }],
    ['eviction', pod({ ...exited(137), reason: 'Evicted', message: 'too little memory' }), { reason: 'EVICTED' }],
    ['a node that shuts down', pod({ phase: 'Failed', reason: 'Shutdown' }), { reason: 'EVICTED' }],
    ['a node that refuses it', pod({ phase: 'Failed', reason: 'OutOfcpu' }), { how: 'NOT_STARTED' }],
    ['deletion from outside', pod(exited(0, { finishedAt: time(25) }), deleted), { reason: 'DELETED' }],
    ['deletion after its end', pod(exited(0), deleted), { how: 'EXITED', exitCode: 0 }],
    ['a stop', pod(exited(143, { finishedAt: time(21) }), { ...deleted, ...stopped }), { how: 'STOPPED' }],
    ['a stop that deleted nothing yet', pod(exited(0), stopped), { how: 'EXITED', exitCode: 0 }],
    ['a lost node', pod({ phase: 'Running', reason: 'NodeLost' }, forced), { reason: 'NODE_LOST' }],
    ['an unknown status', pod(exited(137, { reason: 'ContainerStatusUnknown' })), { reason: 'NODE_LOST' }],
  ])('%s', (_, given, end) => {
    expect(stateOf(given)).toMatchObject({ is: 'OVER', end })
  })

  it('is not known while a node that does not answer may still run it', () => {
    const lost = container({ running: {} }, { phase: 'Running', reason: 'NodeLost' })
    expect(stateOf(pod(lost, deleted))).toEqual({ is: 'RUNNING' })
  })
})

describe('a pod that keeps what its workload leaves', () => {
  const containers = [{ name: 'workload' }, { name: 'leaves' }]
  const beside = (workload: State, leaves: State, phase = 'Running', metadata: V1Pod['metadata'] = {}): V1Pod => {
    const common = { image: '', imageID: '', ready: false, restartCount: 0 }
    // In the order of their names, as nodes tell them.
    const containerStatuses = [
      { ...common, name: 'leaves', state: leaves },
      { ...common, name: 'workload', state: workload },
    ]
    return { metadata, spec: { nodeName: 'node', containers }, status: { phase, containerStatuses } }
  }
  const ended = { terminated: { exitCode: 3, finishedAt: time(10) } }
  const running = { running: {} }
  it('is over when its workload has ended, whatever else of it runs', () => {
    expect(stateOf(beside(ended, running))).toMatchObject({ is: 'OVER', end: { how: 'EXITED', exitCode: 3 } })
    expect(stateOf(beside(ended, ended, 'Failed'))).toMatchObject({ is: 'OVER', end: { exitCode: 3 } })
    expect(stateOf(beside(running, ended))).toEqual({ is: 'RUNNING' })
    expect(stateOf(beside({ waiting: {} }, running))).toMatchObject({ is: 'PENDING' })
    const isStopped = { ...deleted, ...stopped }
    const killed = { terminated: { exitCode: 143, finishedAt: time(21) } }
    expect(stateOf(beside(killed, running, 'Running', isStopped))).toMatchObject({ end: { how: 'STOPPED' } })
  })

  it('is read while it runs and is not deleted', () => {
    expect(reachOf(beside(ended, running))).toBe('NOW')
    expect(reachOf(beside(ended, { waiting: {} }))).toBe('LATER')
    const never = [beside(ended, ended), beside(ended, running, 'Failed'), beside(ended, running, 'Running', deleted)]
    expect(never.map(reachOf)).toEqual(['NEVER', 'NEVER', 'NEVER'])
  })
})

it.each<[string, V1PodStatus, object | null]>([
  ['is created', container({ waiting: { reason: 'ContainerCreating' } }), null],
  ['has a wrong image', container({ waiting: { reason: 'InvalidImageName' } }), { kind: 'FINAL' }],
  ['waits for its image', container({ waiting: { reason: 'ImagePullBackOff', message: 'no' } }), { kind: 'IMAGE' }],
  [
    'waits for a node',
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }] },
    { kind: 'SCHEDULING', message: 'No node takes it. Unschedulable: 0/3 nodes' },
  ],
])('a pod that %s has not run yet', (_, status, problem) => {
  expect(stateOf(pod(status))).toMatchObject({ is: 'PENDING', problem })
})
