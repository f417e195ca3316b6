import { basename } from 'node:path'
import { gadget, lock } from '../../lib/gadget.mjs'
import { keyOf, readJson, remove, statePath, writeJson } from '../../lib/state.mjs'
import { serverOf } from './servers.mjs'

/**
 * A gadget that brings one server into another state, and back. `look` reads the present state; `isDone` says if it is the
 * wanted one; `apply` makes the change; `restore` brings the earlier state back. The earlier state is on disk before
 * anything is changed.
 */
export function changeServer({ look, isDone, apply, restore, results }) {
  const notePath = ({ args, settings }) =>
    statePath('changes', `${keyOf(basename(process.argv[1]), JSON.stringify([args, settings]))}.json`)
  return gadget({
    getlocks: async (call) => lock('server', await serverOf(call)),
    async run(call) {
      const server = await serverOf(call)
      const before = await look(server, call)
      if (!(await isDone(before, server, call))) {
        const known = await readJson(notePath(call))
        // One that was not finished has noted what there was before it began; now it may be half changed.
        if (!known || known.finished) await writeJson(notePath(call), { before, finished: false })
        await apply(server, call)
      }
      const known = await readJson(notePath(call))
      if (known) await writeJson(notePath(call), { ...known, finished: true })
      await results?.(server, call)
    },
    async undo(call) {
      const server = await serverOf(call)
      const known = await readJson(notePath(call))
      if (known) await restore(known.before, server, call)
      await remove(notePath(call))
    },
  })
}
