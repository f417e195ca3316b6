import { invalid, notFoundRefusal, type Refusal } from '../../client-model/index.ts'
import { ACTORS, OBJECT_KINDS, PHASES } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'

const VOCABULARY = gql('query Words { families { kinds { kind stateMachines { phases transitions { actor } } } } }')

const PROJECT_NAMED = gql('query NamedProject($name: String!) { project(name: $name) { name } }')

export async function hasProject({ client, io }: Session, name: string): Promise<boolean> {
  return (await client.query(PROJECT_NAMED, { name }, { signal: io.signal })).project !== null
}

/** Rejects the project of a command that has found nothing, if there is none of this name. */
export const checkProject = async (session: Session, name: string | undefined): Promise<Refusal | null> =>
  name === undefined || (await hasProject(session, name))
    ? null
    : notFoundRefusal(`There is no project ${name} that you may read.`)

/** Kinds, phases and actors in the options of a command. */
export interface GivenWords {
  readonly kinds?: readonly string[] | undefined
  readonly phases?: readonly string[] | undefined
  readonly actors?: readonly string[] | undefined
}

/**
 * Rejects kinds, phases and actors that the server does not have. The server may have families that this version does
 * not know, so unknown words are checked with the server.
 */
export async function checkWords(
  session: Session,
  { kinds = [], phases = [], actors = [] }: GivenWords,
): Promise<Refusal | null> {
  const newKinds = kinds.filter((kind) => !OBJECT_KINDS.some((known) => known === kind))
  const newPhases = phases.filter((phase) => !PHASES.some((known) => known === phase))
  const newActors = actors.filter((actor) => !ACTORS.some((known) => known === actor))
  if (newKinds.length + newPhases.length + newActors.length === 0) return null
  const { families } = await session.client.query(VOCABULARY, {}, { signal: session.io.signal })
  const known = families.flatMap((family) => family.kinds)
  const machines = known.flatMap(({ stateMachines }) => stateMachines)
  const actorsOf = machines.flatMap(({ transitions }) => transitions.map(({ actor }) => actor))
  return (
    unknown(
      'kind',
      newKinds,
      known.map(({ kind }) => kind),
    ) ??
    unknown('phase', newPhases, [...new Set(machines.flatMap((machine) => machine.phases)), 'GONE']) ??
    unknown('actor', newActors, [...new Set(actorsOf)])
  )
}

function unknown(what: string, names: readonly string[], known: readonly string[]): Refusal | null {
  const wrong = names.find((name) => !known.includes(name))
  return wrong === undefined
    ? null
    : invalid(`There is no ${what} ${spell(wrong)}: expected one of ${known.map(spell).join(', ')}.`)
}

const spell = (name: string): string => name.toLowerCase().replaceAll('_', '-')
