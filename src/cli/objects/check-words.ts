import { OBJECT_KINDS, PHASES } from '../../core/vocabulary.ts'
import type { Session } from '../session.ts'
import { invalid, type Refusal } from './refusal.ts'

const WORDS = '{ families { kinds { kind stateMachines { phases } } } }'
interface Words {
  readonly families: readonly {
    readonly kinds: readonly {
      readonly kind: string
      readonly stateMachines: readonly { readonly phases: readonly string[] }[]
    }[]
  }[]
}

/** Words of the user's. */
export interface GivenWords {
  readonly kinds?: readonly string[] | undefined
  readonly phases?: readonly string[] | undefined
}

/**
 * Refuses kinds and phases that the server does not have. Only words that this version does not know are asked about:
 * the server may have families that it was not built with.
 */
export async function checkWords(session: Session, { kinds = [], phases = [] }: GivenWords): Promise<Refusal | null> {
  const newKinds = kinds.filter((kind) => !OBJECT_KINDS.some((known) => known === kind))
  const newPhases = phases.filter((phase) => !PHASES.some((known) => known === phase))
  if (newKinds.length + newPhases.length === 0) return null
  const { families } = await session.client.query<Words>(WORDS, {}, { signal: session.io.signal })
  const known = families.flatMap((family) => family.kinds)
  const phasesOf = known.flatMap(({ stateMachines }) => stateMachines.flatMap((machine) => machine.phases))
  return (
    unknown(
      'kind',
      newKinds,
      known.map(({ kind }) => kind),
    ) ?? unknown('phase', newPhases, [...new Set(phasesOf), 'GONE'])
  )
}

function unknown(what: string, given: readonly string[], known: readonly string[]): Refusal | null {
  const wrong = given.find((word) => !known.includes(word))
  return wrong === undefined
    ? null
    : invalid(`There is no ${what} ${spell(wrong)}: expected one of ${known.map(spell).join(', ')}.`)
}

const spell = (word: string): string => word.toLowerCase().replaceAll('_', '-')
