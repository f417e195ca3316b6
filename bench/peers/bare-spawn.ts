import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { atOnce } from '../at-once.ts'
import { type Peer, servePeer } from '../harness-peer.ts'

/** Bare processes: spawned, their output read, waited for. */

await servePeer(open)

async function open(): Promise<Peer> {
  const run = async (onStart: () => void): Promise<void> => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] })
    child.once('spawn', onStart)
    child.stdout.resume()
    child.stderr.resume()
    await once(child, 'close')
  }
  return {
    runTrees: (count, width) => atOnce(count, width, () => run(() => {})),
    createItem: run,
    async [Symbol.asyncDispose]() {},
  }
}
