import { isMap, LineCounter } from 'yaml'
import type { z } from 'zod'
import { offsetOf, type Place, placeAt } from './place.ts'
import { judgeDocument, type ManifestProblem, unlessTooDeep } from './read-document.ts'
import { type Doc, hasContent, readAllYaml } from './read-yaml.ts'

/** The schema of each kind of documents, by its `kind`; or a text: why documents of this kind are not for this reader. */
export type DocumentKinds<T = unknown> = Readonly<Record<string, z.ZodType<T> | string>>

export interface KindedDocument<T = unknown> {
  readonly kind: string
  readonly value: T
  /** The place of its name. */
  readonly place: Place
  /** Among the documents of the text. */
  readonly index: number
}
export type ReadDocuments<T = unknown> =
  | { readonly ok: true; readonly documents: readonly KindedDocument<T>[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

/**
 * Reads a file of YAML documents, or JSON, which is YAML too. The problems of all documents are reported together. A
 * document without `kind` has the given one.
 * @param more kinds that are read, and that no problem names as a choice
 */
export const readDocuments = <T>(
  text: string,
  kinds: DocumentKinds<T>,
  kind: string,
  more: DocumentKinds<T> = {},
): ReadDocuments<T> => unlessTooDeep(() => read(text, kinds, kind, more))

function read<T>(text: string, kinds: DocumentKinds<T>, fallback: string, more: DocumentKinds<T>): ReadDocuments<T> {
  const all = { ...more, ...kinds }
  const lines = new LineCounter()
  const found = readAllYaml(text, lines).filter(hasContent)
  if (found.length === 0) return { ok: false, problems: [{ path: '', message: 'The file holds no document.' }] }
  const documents: KindedDocument<T>[] = []
  const problems: ManifestProblem[] = []
  for (const [index, document] of found.entries()) {
    const kind = kindOf(document) ?? fallback
    const schema = typeof kind === 'string' && Object.hasOwn(all, kind) ? all[kind] : wordsOf(kinds)
    const judged =
      typeof schema === 'object' || document.errors.length > 0
        ? judgeDocument(document, lines, schema as z.ZodType<T>)
        : foreign(document, lines, schema ?? '')
    if (judged.ok) {
      const place = placeAt(lines, offsetOf(document, ['name']) ?? 0)
      documents.push({ kind: String(kind), value: judged.value, place, index })
    } else
      for (const one of judged.problems) {
        const path = [`document ${index + 1}`, one.path].filter(Boolean).join(': ')
        problems.push(found.length > 1 ? { ...one, path } : one)
      }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, documents }
}

const foreign = (document: Doc, lines: LineCounter, message: string) => ({
  ok: false as const,
  problems: [{ path: 'kind', message, ...placeAt(lines, offsetOf(document, ['kind']) ?? 0) }],
})

/** e.g. `must be Installation, Hook or Project`. */
function wordsOf(kinds: DocumentKinds): string {
  const names = Object.keys(kinds).filter((kind) => typeof kinds[kind] === 'object')
  return `must be ${[names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or ')}`
}

const kindOf = ({ contents }: Doc): unknown => (isMap(contents) ? contents.get('kind') : null)
