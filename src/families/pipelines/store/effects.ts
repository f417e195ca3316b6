import type { Node } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { uuid } from '../../../store/column-types.ts'
import { lockSlots, releaseTickets, wakeNextOfLimits } from '../../../store/limit-tickets.ts'
import { statement } from '../../../store/statement.ts'
import type { Family } from '../../family.ts'
import { replaceOlder } from './rivals.ts'
import { dropTickets, wakeWaiting } from './slots.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    copySecrets: null
  }
}

export const effects: Family['effects'] = {
  async slotFreed(client, root, { pool, limited }, now) {
    const goes = root.gone ? root.row.id : null
    if (limited === null) return await wakeWaiting(client, pool, now, goes)
    await lockSlots(client)
    // The rows of a root that goes are still there, as they were.
    await (root.gone ? releaseTickets(client, [limited]) : dropTickets(client, [limited]))
    return [
      ...(await wakeWaiting(client, pool, now, goes)),
      ...(await wakeNextOfLimits(client, now, { goes, most: 1 })),
    ]
  },
  limitsReplaced: (client, _root, id) => replaceOlder(client, id),
  forgetArtifacts: async (client, _root, id) => {
    await FORGET_ARTIFACTS.query(client, [id])
    return []
  },
  copySecrets: async (client, root) => {
    await copySecrets(client, root)
    return []
  },
}

// The next attempt leaves its own. A sweep in the background removes artifacts without an object.
const FORGET_ARTIFACTS = statement({
  name: 'forget-artifacts',
  text: 'update artifact set object_id = null where object_id = $1',
  params: [uuid],
})

const COPY_SECRETS = statement({
  name: 'copy-secrets',
  text: `insert into event_secret (event_id, name, sealed)
      select $1, name, sealed from secret where project_id = $2`,
  params: [uuid, uuid],
})

/** Copies the sealed secrets, so that later changes of the project do not affect the event. */
async function copySecrets(client: Client, root: Node): Promise<void> {
  await COPY_SECRETS.query(client, [root.row.id, root.row.projectId])
}
