import type { PhaseChange } from 'phaseline/client'
import { type Group, grouped } from 'phaseline/client-model'
import { Link } from 'wouter'
import type { Failed } from '../../data/overview-store.ts'
import { humanKind } from '../../model/known.ts'
import { logHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { Name } from './parts.tsx'

/** Each cause once. */
export const causesOf = (failed: readonly Failed[]): readonly Group<Failed>[] =>
  grouped(failed, ({ kind, error }) => `${kind} ${error?.code} ${error?.message}`)

export function FailedThing({ group: { first, more } }: { readonly group: Group<Failed> }) {
  return (
    <li data-failure={first.path}>
      <Name row={first} more={more} alike=" with this error" />
      <span className="thing-end">
        <Phase phase={first.phase} /> <Since at={first.phaseSince} />
      </span>
      <span className="thing-why brief" title={first.error?.message}>
        {first.error?.message ?? 'It says no reason.'}
      </span>
    </li>
  )
}

/** Its object may be gone, so the data is from the log. */
export function UndoneThing({
  change: { projectName, path, name, kind, to, at, message, reason },
}: {
  readonly change: PhaseChange
}) {
  const place = `${projectName}/${path}`
  return (
    <li data-undone={place}>
      <span className="thing-name">
        <Link href={logHref({ text: place })}>{name}</Link> <span className="quiet">{humanKind(kind)}, undone</span>
      </span>
      <span className="thing-end">
        <Phase phase={to} /> <Since at={at} />
      </span>
      <span className="thing-why brief" title={message ?? undefined}>
        {message ?? reason}
      </span>
    </li>
  )
}
