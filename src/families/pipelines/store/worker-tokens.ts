import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { uuid } from '../../../store/column-types.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { worker } from '../machines.ts'

/**
 * Tokens of workers: `pw_` and, in base64url, the worker's id with a signature. No row is stored: each claim of the worker
 * gets the same token, which is invalid once the worker has ended.
 */
export interface WorkerTokens {
  /** Null: no key to sign the token with exists. */
  tokenOf(workerId: string): string | null
  recognises(secret: string): boolean
  isSigned(secret: string): boolean
  /** Null: the token is invalid, or its worker has ended or is gone. */
  authenticate(secret: string): Promise<Viewer | null>
}

const PREFIX = 'pw_'
const PURPOSE = 'worker token'
const ID_BYTES = 16
const SECRET = /^pw_[A-Za-z0-9_-]{64}$/
const FINAL: ReadonlySet<Phase> = new Set(worker.final)

export function createWorkerTokens(client: Client, sealing: Pick<Sealing, 'sign' | 'verify'>): WorkerTokens {
  /** Null: it has no signature of ours. */
  const signedId = (secret: string): Buffer | null => {
    if (!SECRET.test(secret)) return null
    const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64url')
    const id = bytes.subarray(0, ID_BYTES)
    return sealing.verify(PURPOSE, id, bytes.subarray(ID_BYTES)) ? id : null
  }
  return {
    tokenOf(workerId) {
      const id = Buffer.from(workerId.replaceAll('-', ''), 'hex')
      const signature = sealing.sign(PURPOSE, id)
      return signature && `${PREFIX}${Buffer.concat([id, signature]).toString('base64url')}`
    },
    recognises: (secret) => secret.startsWith(PREFIX),
    isSigned: (secret) => signedId(secret) !== null,
    async authenticate(secret) {
      const id = signedId(secret)
      if (!id) return null
      const found = await findWorker(client, id.toString('hex'))
      return found && !FINAL.has(found.phase) ? viewerOf(found) : null
    },
  }
}

interface FoundWorker {
  readonly id: string
  readonly phase: Phase
  readonly eventId: string
  readonly eventName: string
  readonly projectId: string
}
const FIND_WORKER = statement({
  name: 'find-worker',
  text: `select o.id, o.phase, r.id as "eventId", r.name as "eventName", o.project_id as "projectId" from object o
      join object r on r.id = o.root_id where o.id = $1 and o.kind = 'WORKER'`,
  params: [uuid],
  row: {
    id: table.object.id,
    phase: table.object.phase,
    eventId: table.object.id,
    eventName: table.object.name,
    projectId: table.object.projectId,
  },
})

async function findWorker(client: Client, id: string): Promise<FoundWorker | null> {
  const { rows } = await FIND_WORKER.query(client, [id])
  return rows[0] ?? null
}

const viewerOf = ({ id, eventId, eventName, projectId }: FoundWorker): Viewer => ({
  principalId: id,
  tokenId: id,
  name: `worker of ${eventName}`,
  actor: 'WORKER',
  grants: [{ role: 'WORKER', projectId }],
  projects: [projectId],
  types: [],
  targets: [],
  rootId: eventId,
})
