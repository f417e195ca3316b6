import type { PhaseChange } from '../../src/client/index.ts'
import { Machines } from '../../src/client-model/index.ts'
import { judgeVerb } from '../../src/core/judge-verb.ts'
import { EDITORS, right } from '../../src/core/rights.ts'
import { families } from '../../src/families/index.ts'
import type { Actable } from '../../web-playground/src/model/actions.ts'
import { type Known, setServerVocabulary } from '../../web-playground/src/model/known.ts'
import type { ListedRow } from '../../web-playground/src/model/object.ts'

/** Samples for tests of the dashboard's pure parts. */

/** The product's kinds, as the API describes them. */
export const known: Known = {
  families: families.map(({ name, title, kinds }) => ({
    name,
    title,
    kinds: Object.entries(kinds).map(([kind, { noun, agents = [] }]) => ({ kind, noun, agents })),
  })),
  stateMachines: families
    .flatMap((family) => family.machines)
    .map((machine) => ({
      ...machine,
      classes: [...machine.classes].map(([phase, phaseClass]) => ({ phase, class: phaseClass })),
    })),
}
setServerVocabulary(known)

/** The object with the verbs that the API would show to a user of this role. All other machines of its kind are in the same phase. */
export function actable(object: Omit<Actable, 'verbs'>, role: 'EDITOR' | 'VIEWER' = 'EDITOR'): Actable {
  const { kind, phase, parent, deletionRequestedAt, finished } = object
  const grants = [{ role, projectId: null }]
  const judged = families
    .flatMap((family) => family.machines)
    .flatMap((machine) =>
      machine.verbs
        .filter((verb) => verb.kind === kind)
        .map((verb) =>
          judgeVerb(
            verb,
            {
              projectId: 'default',
              parentId: parent?.id ?? null,
              deletionRequestedAt: deletionRequestedAt === null ? null : new Date(deletionRequestedAt),
              finished,
              inBackoff: false,
              isAuthor: false,
              atGate: false,
              paused: false,
              phase: machine.phases.find((one) => one === phase) ?? null,
            },
            { name: 'ada', actor: 'USER', grants },
            right(verb.name, kind, EDITORS),
            machine,
          ),
        ),
    )
  return {
    ...object,
    verbs: judged.map(({ verb: { name }, refusal }) => ({
      name,
      allowed: refusal === null,
      obstacle: refusal?.obstacle ?? null,
      why: refusal?.why ?? null,
    })),
  }
}

export const machines = new Machines([
  {
    name: 'deployItem',
    kinds: ['DEPLOY_ITEM'],
    initial: 'PENDING',
    final: ['SUCCEEDED', 'FAILED'],
    phases: ['PENDING', 'PROGRESSING', 'SUCCEEDED', 'FAILED'],
    ...{ classes: [], transitions: [], verbs: [] },
  },
  ...[
    { name: 'cloudlet', phase: 'OFFLINE' },
    { name: 'cloudletUpgrade', phase: 'READY' },
  ].map(({ name, phase }) => ({
    ...{
      name,
      kinds: ['CLOUDLET'],
      initial: phase,
      final: [],
      phases: [phase],
      classes: [],
      transitions: [],
      verbs: [],
    },
  })),
])

export function row(id: string, more: Partial<ListedRow> = {}): ListedRow {
  return {
    id,
    kind: 'DEPLOY_ITEM',
    name: `item-${id}`,
    phase: 'PENDING',
    phaseSince: '2026-11-21T20:00:00.000Z',
    createdAt: '2026-11-21T20:00:00.000Z',
    finished: false,
    revision: 1,
    project: { name: 'default' },
    parent: null,
    root: { id: 'root', name: 'root' },
    error: null,
    pendingRequests: [],
    path: `root/item-${id}`,
    labels: [],
    ...more,
  }
}

let sequence = 0
export function change(objectId: string, to: PhaseChange['to'], more: Partial<PhaseChange> = {}): PhaseChange {
  sequence += 1
  return {
    sequence,
    objectId,
    kind: 'DEPLOY_ITEM',
    name: `item-${objectId}`,
    path: `root/item-${objectId}`,
    rootId: 'root',
    projectName: 'default',
    machine: 'deployItem',
    from: 'PENDING',
    to,
    actor: 'CONTROLLER',
    by: null,
    reason: null,
    message: null,
    jobId: null,
    revision: 2,
    rejected: false,
    at: '2026-11-21T20:00:01.000Z',
    ...more,
  }
}
