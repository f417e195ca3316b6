import { outcomeOf, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'

const RESEAL = gql(`mutation ResealSecrets {
  answer: resealSecrets {
    __typename ... on ResealedSecrets { resealed complete keys { id newest known sealed } } ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)

/** Repeats the request until nothing is left that it can reseal. Failed: something is still sealed with another key. */
export async function reseal(session: Session): Promise<ExitCode> {
  let resealed = 0
  for (;;) {
    const { answer } = await session.client.query(RESEAL, {}, { signal: session.io.signal })
    const outcome = outcomeOf(answer)
    if (!outcome.ok) return session.refuse(outcome.refusal)
    const { complete, keys, resealed: more } = outcome.value
    resealed += more
    if (!complete) continue
    session.emit({ resealed, keys })
    session.say(`${resealed} resealed`, ...table(['KEY', 'SEALED', 'IS'], keys.map(rowOf)))
    return keys.some(({ newest, sealed }) => !newest && sealed > 0) ? EXIT.failed : EXIT.ok
  }
}

interface Key {
  readonly id: string
  readonly newest: boolean
  readonly known: boolean
  readonly sealed: number
}
function rowOf({ id, newest, known, sealed }: Key): readonly string[] {
  const state = newest ? 'newest' : known ? 'older' : 'not on the server'
  return [id, String(sealed), state]
}
