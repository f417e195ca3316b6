import { useLocation } from 'wouter'
import type { Machine } from '../../model/machines.ts'

interface Props {
  readonly machines: readonly Machine[]
  readonly current: Machine
  /** The object whose path is shown, if any. */
  readonly objectId?: string
}

export function MachineTabs({ machines, current, objectId }: Props) {
  const [, navigate] = useLocation()
  const object = objectId === undefined ? '' : `&object=${objectId}`
  return (
    <nav className="tabs" aria-label="State machines">
      {machines.map((each) => (
        <button
          key={each.name}
          type="button"
          aria-current={each === current ? 'true' : undefined}
          onClick={() => navigate(`/machines?machine=${each.name}${object}`, { replace: true })}
        >
          {each.name}
        </button>
      ))}
    </nav>
  )
}
