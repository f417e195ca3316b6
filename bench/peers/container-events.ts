import Docker from 'dockerode'
import { atOnce } from '../at-once.ts'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'

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
    runTrees: (count) => atOnce(count, AT_ONCE, () => run(() => {})),
    createItem: run,
    async [Symbol.asyncDispose]() {},
  }
}
