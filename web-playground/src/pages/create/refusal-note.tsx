import type { Refusal } from 'phaseline/client-model'
import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import { adviceFor, problemsOutside } from '../../model/refusal.ts'
import { treeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'

interface Props {
  readonly refused: Refusal | null
  /** Fields that show their problems themselves. */
  readonly fields: readonly string[]
}

/** The refusal, the object in conflict, and the remedy. */
export function RefusalNote({ refused, fields }: Props) {
  if (!refused) return null
  const { code, message, object } = refused
  const advice = adviceFor(refused)
  const unplaced = problemsOutside(refused, fields)
  const isAtFields = (refused.fields?.length ?? 0) > 0
  return (
    <div className="refusal" role="alert">
      <p>
        <b>✗ {code}</b> {isAtFields ? 'Some of it cannot be as it is: see where it is marked.' : message}
      </p>
      {unplaced.length > 0 && (
        <ul>
          {unplaced.map(({ path, message: why }) => (
            <li key={`${path} ${why}`}>
              <code>{path}</code> {why}
            </li>
          ))}
        </ul>
      )}
      {object?.root && (
        <p>
          In the way:{' '}
          <Link href={treeHref(object.root.id, object.id)}>
            {humanKind(object.kind)} {object.name}
          </Link>{' '}
          <Phase phase={object.phase} />
        </p>
      )}
      {advice && <p>{advice}</p>}
    </div>
  )
}
