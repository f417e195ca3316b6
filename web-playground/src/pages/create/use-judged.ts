import { useDeferredValue } from 'react'
import { useSettled } from './use-settled.ts'

/** Characters. */
export const LARGE = 50_000
/** Milliseconds of a pause in typing. */
const TYPED_MS = 400

/** The text to validate: of a large text not every letter, since parsing takes time. */
export function useJudged(text: string): string {
  const deferred = useDeferredValue(text)
  const settled = useSettled(text, TYPED_MS)
  return text.length > LARGE ? settled : deferred
}
