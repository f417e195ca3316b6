import type { FieldProblem } from './errors.ts'

/** Collects the problems of an input by their paths, at most a hundred. */
export class Problems {
  readonly found: FieldProblem[] = []
  add(path: string, message: string): void {
    if (this.found.length < 100) this.found.push({ path, message })
  }
}

/** Names appear in expressions and paths, so they need no quoting. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/
export const isName = (name: string): boolean => NAME.test(name)
export const NAME_RULE =
  'must start with a letter or _, continue with letters, digits, _ or -, and have at most 63 characters'
