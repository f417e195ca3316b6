import { useMemo } from 'react'
import { type Read, refusedAt, type TextProblem } from '../../model/manifest-text.ts'
import type { Refusal } from '../../model/refusal.ts'
import { useJudged } from './use-judged.ts'

interface Reading<T> {
  /** What was read; the text may be newer. */
  readonly judged: string
  readonly read: Read<T>
  /** Its own, or where the server has refused it. */
  readonly problems: readonly TextProblem[]
}

/** `below`: the field of the input that the text is; all of it by default. */
export function useRead<T>(
  text: string,
  readText: (text: string) => Read<T>,
  refused: Refusal | null,
  below = 'input',
): Reading<T> {
  const judged = useJudged(text)
  const read = useMemo(() => readText(judged), [judged, readText])
  const problems = useMemo(
    () => (read.ok ? refusedAt(judged, refused, below) : read.problems),
    [read, judged, refused, below],
  )
  return { judged, read, problems }
}
