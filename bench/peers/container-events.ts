import Docker from 'dockerode'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/** A bare client of a container engine: creates, starts, waits and removes, with as many at the same time as our runtime. */

const AT_ONCE = 16

await servePeer(open)

/** @param url of the socket, with the image as its fragment */
async function open({ url }: PeerOptions): Promise<Peer> {
  const { hash, pathname } = new URL(url)
  const docker = new Docker({ socketPath: pathname })
  const run = async (onStart: () => void): Promise<void> => {
    const container = await docker.createContainer({
      ...{ Image: hash.slice(1), Cmd: ['true'] },
      HostConfig: { NetworkMode: 'none' },
    })
    await container.start()
    onStart()
    await container.wait()
    await container.remove()
  }
  return {
    async runTrees(count) {
      const roots = new Roots(count)
      let left = count
      const next = async (): Promise<void> => {
        while (left-- > 0) {
          await run(() => {})
          roots.ended()
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, next))
      await roots.allEnded
    },
    createItem: run,
    async [Symbol.asyncDispose]() {},
  }
}
