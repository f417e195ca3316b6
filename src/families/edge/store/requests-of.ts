import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { array, boolean, json, nullable, required, text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { agentWork } from '../../../store/views.ts'
import { operationAt } from '../rules/operations.ts'
import type { CrmAction, InstanceSpec, Session } from '../rules/spec.ts'
import { requestFence } from './fences.ts'

/** A request in the form that CRMs get. */
export interface CrmRequest {
  readonly fence: string
  readonly objectId: string
  readonly kind: ObjectKind
  /** Names from the cloudlet down. */
  readonly path: readonly string[]
  readonly action: CrmAction
  readonly operationId: string
  readonly specRevision: number
  /** Null: the request creates nothing. */
  readonly spec: unknown
}

interface Row {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly path: readonly string[]
  readonly phase: Phase
  readonly operationId: string
  readonly attempt: number
  readonly undoing: boolean | null
  readonly specRevision: number | null
  readonly keptRevision: number | null
  readonly spec: InstanceSpec
  readonly keptSpec: InstanceSpec | null
  readonly wantedVersion: string | null
}

// Dispatched requests without an acknowledgement. A new process also gets those that an earlier one had begun.
const OUTSTANDING = statement({
  name: 'outstanding-crm-requests',
  text: `select o.id as "objectId", o.kind, o.phase, w.job_id as "operationId", w.attempt, i.undoing,
    i.spec_revision as "specRevision", i.kept_revision as "keptRevision", s.spec, i.kept_spec as "keptSpec",
    c.wanted_version as "wantedVersion",
    case o.kind when 'CLOUDLET' then array[o.name] when 'CLUSTER_INST' then array[p.name, o.name]
      else array[r.name, p.name, o.name] end as path
  from agent_work w join object o on o.id = w.object_id join object r on r.id = w.root_id
  left join object p on p.id = o.parent_id
  left join object_spec s on s.object_id = o.id left join edge_inst i on i.object_id = o.id
  left join cloudlet c on c.object_id = o.id
  where w.root_id = $1 and w.is_open and w.type = 'crm' and w.is_claimed and w.fence_hash is not null and w.instance = $2 and w.principal_id = $3
    and (o.phase in ('CREATE_REQUESTED', 'UPDATE_REQUESTED', 'DELETE_REQUESTED') or i.undoing
      or c.upgrade_phase = 'UPDATE_REQUESTED' or $4 and o.phase in ('CREATING', 'UPDATING', 'DELETING'))
  order by o.id`,
  params: [uuid, text, uuid, boolean],
  row: {
    objectId: table.object.id,
    kind: table.object.kind,
    phase: table.object.phase,
    operationId: required(agentWork.jobId),
    attempt: agentWork.attempt,
    undoing: nullable(table.edgeInst.undoing),
    specRevision: nullable(table.edgeInst.specRevision),
    keptRevision: table.edgeInst.keptRevision,
    spec: json<InstanceSpec>(),
    keptSpec: nullable(json<InstanceSpec>()),
    wantedVersion: table.cloudlet.wantedVersion,
    path: array(text),
  },
})

/** The requests of a session's CRM, in the order in which the objects were created. */
export async function outstandingRequests(
  client: Client,
  cloudletId: string,
  session: Session,
  { includeStarted = false }: { readonly includeStarted?: boolean } = {},
): Promise<readonly CrmRequest[]> {
  const { rows } = await OUTSTANDING.query(client, [cloudletId, session.instance, session.principalId, includeStarted])
  return rows.map((row) => requestOf(row, session))
}

function requestOf(row: Row, { salt }: Session): CrmRequest {
  const { objectId, kind, path, operationId, attempt } = row
  const { fence } = requestFence({ salt, objectId, operationId, attempt })
  return { fence, objectId, kind, path, operationId, ...wantedOf(row) }
}

function wantedOf(row: Row): Pick<CrmRequest, 'action' | 'specRevision' | 'spec'> {
  const { kind, phase, undoing, specRevision, keptRevision, spec, keptSpec, wantedVersion } = row
  if (kind === 'CLOUDLET') return { action: 'UPDATE', specRevision: 0, spec: { version: wantedVersion } }
  const operation = operationAt(phase)
  const action = (undoing ? operation?.undo : operation?.action) ?? 'DELETE'
  if (action === 'DELETE') return { action, specRevision: specRevision ?? 0, spec: null }
  // Undoing an update requests the previous spec.
  if (undoing && keptSpec) return { action, specRevision: keptRevision ?? 0, spec: keptSpec }
  return { action, specRevision: specRevision ?? 0, spec }
}
