import { gql } from '../../documents/gql.ts'
import { outcomeOf, REFUSAL_FRAGMENT } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'
import { words } from '../terminal/text.ts'
import { findInstallation } from './apply-manifest.ts'
import type { PlacedManifest } from './load-manifests.ts'
import { atSource } from './source.ts'

const PLAN = gql(`query Plan($input: PlanInstallationInput!) {
  planInstallation(input: $input) {
    __typename
    ... on InstallationPlan { steps { order action kind path reason } }
    ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)

/** Prints what applying the manifest would do, in order. Nothing is written. */
export async function planManifest(session: Session, manifest: PlacedManifest): Promise<ExitCode> {
  const { name, project, spec } = manifest
  const existing = await findInstallation(session, manifest)
  const input = existing ? { update: { id: existing.id, spec } } : { create: { project, name, spec } }
  const { planInstallation } = await session.client.query(PLAN, { input }, { signal: session.io.signal })
  const outcome = outcomeOf(planInstallation)
  if (!outcome.ok) return session.refuse(atSource(outcome.refusal, manifest.source))
  const { steps } = outcome.value
  session.emit({ project, name, action: existing ? 'update' : 'create', steps })
  if (steps.length === 0) session.say('Nothing would be done.')
  else
    session.say(
      ...table(
        ['STEP', 'ACTION', 'KIND', 'OBJECT', 'WHY'],
        steps.map(({ order, action, kind, path, reason }) => [
          String(order),
          words(action),
          words(kind),
          path.join('/'),
          reason ?? '',
        ]),
      ),
    )
  return EXIT.ok
}
