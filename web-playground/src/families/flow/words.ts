import { duration } from '../../model/words.ts'

/** How a limit treats workers and jobs of a key when a newer one comes; null: all wait. */
export const STRATEGIES: Readonly<Record<'QUEUE' | 'LATEST_ONLY' | 'CANCEL_RUNNING' | 'SKIP', string | null>> = {
  QUEUE: null,
  LATEST_ONLY: 'a newer one replaces those that wait',
  CANCEL_RUNNING: 'a newer one replaces those that run',
  SKIP: 'a newer one is skipped',
}
export const shownKey = (key: string): string => (key === '' ? '""' : key)
export const writeRate = ({ count, perMs }: { readonly count: number; readonly perMs: number }): string =>
  `${count.toLocaleString('en')} in ${duration(perMs)}`
