import { CLASS_LABELS, CLASS_SYMBOLS, type ClassCounts, PHASE_CLASSES } from 'phaseline/client-model'
import { classOf } from '../model/known.ts'
import { duration } from '../model/words.ts'
import { zonedTime } from './exact-time.ts'
import { useNow } from './now.ts'

/** A phase by symbol, name and colour: each of them suffices. */
export function Phase({ phase }: { readonly phase: string }) {
  const look = classOf(phase)
  if (phase === 'GONE')
    return (
      <span className={`phase is-${look.toLowerCase()}`} title="gone">
        <span aria-hidden="true">∅</span> {phase}
      </span>
    )
  return (
    <span className={`phase is-${look.toLowerCase()}`} title={CLASS_LABELS[look]}>
      <span aria-hidden="true">{CLASS_SYMBOLS[look]}</span> {phase}
    </span>
  )
}

/** e.g. `2 ✗ 14 ✓`; classes without objects are omitted. */
export function CountsByClass({ counts }: { readonly counts: ClassCounts }) {
  return (
    <span className="class-counts">
      {PHASE_CLASSES.filter((name) => counts[name] > 0).map((name) => (
        <span key={name} className={`is-${name.toLowerCase()}`} title={`${counts[name]} ${CLASS_LABELS[name]}`}>
          {counts[name].toLocaleString('en')} <span aria-hidden="true">{CLASS_SYMBOLS[name]}</span>
          <span className="hidden"> {CLASS_LABELS[name]}</span>
        </span>
      ))}
    </span>
  )
}

/** The time since then, counting up; the exact time on hover. A screen reader says it with its surroundings, and not each second. */
export function Since({ at }: { readonly at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={zonedTime(at)} aria-live="off">
      {duration(now - Date.parse(at))}
    </time>
  )
}

/** The time until then, counting down; silent like `Since`. */
export function Until({ at }: { readonly at: string }) {
  const now = useNow()
  const left = Date.parse(at) - now
  return (
    <time dateTime={at} title={zonedTime(at)} aria-live="off">
      {left > 0 ? `in ${duration(left)}` : 'due'}
    </time>
  )
}
