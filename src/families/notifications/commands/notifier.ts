import type { WorkerParts } from '../../define-family.ts'
import { startSearchLoop } from '../../search-loop.ts'
import { Sender } from './sender.ts'
import { writeMessages } from './write-messages.ts'

/** Writes and sends the messages of rules, in each process with an engine. */
export function startNotifier(parts: WorkerParts): AsyncDisposable {
  const { log, config } = parts
  let leave: (() => void) | null = null
  const matcher = startSearchLoop(parts, {
    what: 'the search for changes to tell',
    async round(stop) {
      let step = await writeMessages(parts)
      while (step === 'more' && !stop.aborted) step = await writeMessages(parts)
      // The live end of the log is followed only while there is somebody to tell.
      if (step === 'none') {
        leave?.()
        leave = null
      } else
        leave ??= log.listen(
          { projects: null, includeRejected: false },
          { offer: () => matcher.wake(), tick() {}, lost: () => matcher.wake() },
        )
      return null
    },
  })
  const sending = startSearchLoop(parts, { what: 'sending notifications', pauseMs: 10, round: () => sender.round() })
  const sender = new Sender({ ...parts, ...config.outgoing }, () => sending.wake())
  return {
    async [Symbol.asyncDispose]() {
      leave?.()
      await Promise.all([matcher[Symbol.asyncDispose](), sending[Symbol.asyncDispose]()])
      await sender[Symbol.asyncDispose]()
    },
  }
}
