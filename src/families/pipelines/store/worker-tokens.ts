import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { integer, uuid } from '../../../store/column-types.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { worker } from '../machines.ts'

/**
 * Tokens of workers: `pw_` and, in base64url, the worker's id with a signature. No row is stored: each claim of the worker
 * gets the same token, which is invalid once the worker has ended. Each further attempt has a token of its own, with the number of
 * attempts before it, and that of the one before is invalid.
 */
export interface WorkerTokens {
  /** Null: no key to sign the token with exists. */
  tokenOf(workerId: string, attempt: number): string | null
  recognises(secret: string): boolean
  isSigned(secret: string): boolean
  /** Null: the token is invalid, or its worker has ended or is gone. */
  authenticate(secret: string): Promise<Viewer | null>
}

const PREFIX = 'pw_'
const PURPOSE = 'worker token'
const ID_BYTES = 16
/** Absent in the token of a first attempt, so that it is as those of earlier versions. */
const ATTEMPT_BYTES = 3
const SIGNATURE_BYTES = 32
/** No length needs padding. */
const SECRET = /^pw_([A-Za-z0-9_-]{64}|[A-Za-z0-9_-]{68})$/
const FINAL: ReadonlySet<Phase> = new Set(worker.final)

export function createWorkerTokens(client: Client, sealing: Pick<Sealing, 'sign' | 'verify'>): WorkerTokens {
  /** Null: it has no signature of ours. */
  const read = (secret: string): { readonly id: string; readonly attempt: number } | null => {
    if (!SECRET.test(secret)) return null
    const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64url')
    const signed = bytes.subarray(0, -SIGNATURE_BYTES)
    if (!sealing.verify(PURPOSE, signed, bytes.subarray(-SIGNATURE_BYTES))) return null
    const attempt = signed.length > ID_BYTES ? signed.readUIntBE(ID_BYTES, ATTEMPT_BYTES) : 0
    return { id: signed.subarray(0, ID_BYTES).toString('hex'), attempt }
  }
  return {
    tokenOf(workerId, attempt) {
      const number = Buffer.alloc(attempt > 0 ? ATTEMPT_BYTES : 0)
      if (attempt > 0) number.writeUIntBE(attempt, 0, ATTEMPT_BYTES)
      const signed = Buffer.concat([Buffer.from(workerId.replaceAll('-', ''), 'hex'), number])
      const signature = sealing.sign(PURPOSE, signed)
      return signature && `${PREFIX}${Buffer.concat([signed, signature]).toString('base64url')}`
    },
    recognises: (secret) => secret.startsWith(PREFIX),
    isSigned: (secret) => read(secret) !== null,
    async authenticate(secret) {
      const token = read(secret)
      const found = token && (await findWorker(client, token.id))
      return found && found.attempt === token.attempt && !FINAL.has(found.phase) ? viewerOf(found) : null
    },
  }
}

interface FoundWorker {
  readonly id: string
  readonly phase: Phase
  readonly eventId: string
  readonly eventName: string
  readonly projectId: string
  /** Attempts that have ended. */
  readonly attempt: number
}
const FIND_WORKER = statement({
  name: 'find-worker',
  text: `select o.id, o.phase, r.id as "eventId", r.name as "eventName", o.project_id as "projectId",
        coalesce(jsonb_array_length(w.retry -> 'attempts'), 0) as attempt
      from object o join object r on r.id = o.root_id join workload w on w.object_id = o.id where o.id = $1 and o.kind = 'WORKER'`,
  params: [uuid],
  row: {
    id: table.object.id,
    phase: table.object.phase,
    eventId: table.object.id,
    eventName: table.object.name,
    projectId: table.object.projectId,
    attempt: integer,
  },
})

async function findWorker(client: Client, id: string): Promise<FoundWorker | null> {
  const { rows } = await FIND_WORKER.query(client, [id])
  return rows[0] ?? null
}

const viewerOf = ({ id, eventId, eventName, projectId, attempt }: FoundWorker): Viewer => ({
  principalId: id,
  tokenId: id,
  name: `worker of ${eventName}`,
  actor: 'WORKER',
  grants: [{ role: 'WORKER', projectId }],
  projects: [projectId],
  types: [],
  targets: [],
  rootId: eventId,
  attempt,
})
