/** The names that a template may read, by its text: an evaluation carries their values. Pure. */

type Values = Readonly<Record<string, unknown>>

/** Deploy items and installations are read by written names only. */
export function mentionedIn(template: unknown): (name: string) => boolean {
  const text = JSON.stringify(template) ?? ''
  return (name) => text.includes(name)
}

/** Each item of a long list would carry that list with it. */
export function importsFor(template: unknown, imports: Values): Values {
  if (readsAnyImport.test(JSON.stringify(template) ?? '')) return imports
  const isMentioned = mentionedIn(template)
  return Object.fromEntries(Object.entries(imports).filter(([name]) => isMentioned(name)))
}
/** By a computed name, or all of them: `imports[each.key]`, `imports.map(name, name)`. */
const readsAnyImport = /\bimports\b(?!\.\w+\b(?!\s*\())/
