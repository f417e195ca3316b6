import { duration } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { useNow } from '../../ui/now.ts'

/** The time in a phase, in its largest unit. */
export function Age({ at }: { readonly at: string }) {
  const [largest] = duration(useNow() - Date.parse(at)).split(' ')
  return (
    <time dateTime={at} title={`In this phase since ${dateTime(at)}`}>
      {largest}
    </time>
  )
}
