import type { Refusal } from 'phaseline/client-model'
import { useMemo } from 'react'
import { type Read, refusedAt, type TextProblem } from '../../model/manifest-text.ts'
import { useJudged } from './use-judged.ts'

interface Reading<T> {
  /** The parsed value; the text may be newer. */
  readonly judged: string
  readonly read: Read<T>
  /** The value of the text as it stands, for a form that is sent before the newest text was judged. */
  readonly readNow: () => Read<T>
  /** Problems of the text, or those that the server has found. */
  readonly problems: readonly TextProblem[]
}

/** `below`: the field of the input whose value the text is; the whole input by default. */
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
  const readNow = (): Read<T> => (judged === text ? read : readText(text))
  return { judged, read, readNow, problems }
}
