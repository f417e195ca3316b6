export interface Expression {
  readonly path: string
  readonly source: string
  readonly whole: boolean
}
export function hasExpressions(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes('${')
}
export function findExpressions(value: unknown): readonly Expression[] {
  return [...JSON.stringify(value ?? null).matchAll(/\$\{([^}]*)\}/g)].map((m) => ({
    path: '',
    source: m[1] ?? '',
    whole: false,
  }))
}
