import { duration } from '../../model/words.ts'

export const shownKey = (key: string): string => (key === '' ? '""' : key)
export const writeRate = ({ count, perMs }: { readonly count: number; readonly perMs: number }): string =>
  `${count.toLocaleString('en')} in ${duration(perMs)}`
