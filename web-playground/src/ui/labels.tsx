import { Link } from 'wouter'
import { type Pair, textOf } from '../model/pairs.ts'

/** Labels of a row that have room; its page has them all. */
export const LABELS_SHOWN = 2

interface Props {
  readonly labels: readonly Pair[]
  /** The list of what has this label, too. */
  readonly hrefOf: (label: Pair) => string
}
/** The first labels of an object; the others are counted, and named in a tooltip. */
export function Labels({ labels, hrefOf }: Props) {
  const more = labels.slice(LABELS_SHOWN).map(textOf)
  return (
    <span className="chips">
      {labels.slice(0, LABELS_SHOWN).map((label) => (
        <Link key={label.key} href={hrefOf(label)} title={`Only ${textOf(label)}`}>
          {textOf(label)}
        </Link>
      ))}
      {more.length > 0 && <span title={more.join(', ')}>+{more.length}</span>}
    </span>
  )
}
