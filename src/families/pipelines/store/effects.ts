import type { Node } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { uuid } from '../../../store/column-types.ts'
import { lockSlots, releaseTickets, wakeNextOfLimits } from '../../../store/limit-tickets.ts'
import { statement } from '../../../store/statement.ts'
import type { Family, RunSharedEffect } from '../../family.ts'
import { replaceOlder } from './rivals.ts'
import { dropTickets, wakeWaiting } from './slots.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    copySecrets: null
  }
}

export const effects: Family['effects'] = {
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

export const giveSlotsBack: RunSharedEffect<'slotFreed'> = async (client, freed, now, goes) => {
  const limited = freed.flatMap(({ limited }) => limited ?? [])
  if (limited.length > 0) {
    await lockSlots(client)
    // The rows of a root that goes are still there, as they were.
    await (goes ? releaseTickets(client, limited) : dropTickets(client, limited))
  }
  const roots: string[] = []
  for (const pool of new Set(freed.map(({ pool }) => pool))) roots.push(...(await wakeWaiting(client, pool, now, goes)))
  if (limited.length > 0) roots.push(...(await wakeNextOfLimits(client, now, { goes, most: limited.length })))
  return roots
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
