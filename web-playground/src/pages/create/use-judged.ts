import { useDeferredValue } from 'react'
import { useSettled } from './use-settled.ts'

/** Characters. */
export const LARGE = 50_000
/** A pause in typing. */
const TYPED_MS = 400

/** The text that is judged: of a large one not every letter that is typed, since to read it takes its time. */
export function useJudged(text: string): string {
  const deferred = useDeferredValue(text)
  const settled = useSettled(text, TYPED_MS)
  return text.length > LARGE ? settled : deferred
}
