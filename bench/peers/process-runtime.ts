import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProcessRuntime } from '../../src/families/pipelines/agents/process/process-runtime.ts'
import type { Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { atOnce } from '../at-once.ts'
import { type Peer, servePeer } from '../harness-peer.ts'

/** The process runtime alone, without a server: workloads are started, followed to their end, and removed. */

await servePeer(open)

async function open(): Promise<Peer> {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  const url = 'http://127.0.0.1:4000/graphql'
  const runtime = await openProcessRuntime({ state, url, env: process.env, isolation: null })
  const signal = new AbortController().signal
  const run = async (onRunning: () => void): Promise<void> => {
    const id = randomUUID()
    await runtime.start(workload(id), 'receipt')
    await runtime.watch(id, { signal, onRunning, onLine() {} })
    await runtime.remove(id, null)
  }
  return {
    runTrees: (count, width) => atOnce(count, width, () => run(() => {})),
    createItem: run,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]()
      await rm(state, { recursive: true })
    },
  }
}

const workload = (id: string): Workload => ({
  ...{ id, eventId: id, workerId: id, project: 'bench', event: { id } },
  ...{ image: null, command: ['true'], args: [], env: {}, files: [], secrets: {}, workspace: null, token: null },
})
