import {
  autocompletion,
  type Completion,
  type CompletionSource,
  insertCompletionText,
  pickedCompletion,
  startCompletion,
} from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { loadPart } from '../../data/load-part.ts'
import { type Suggestion, suggestionsAt } from '../../model/completion.ts'
import { LARGE } from './use-judged.ts'

/** Completes keys and values of a document of this kind. Enter takes one; Tab keeps its meaning. */
export const completionOf = (kind: string): Extension => autocompletion({ override: [sourceOf(kind)], icons: false })

const sourceOf =
  (kind: string): CompletionSource =>
  async (context) => {
    const { state, pos, explicit } = context
    // A large text is not parsed while somebody types.
    if (!explicit && (state.doc.length > LARGE || !context.matchBefore(/[\w-]+|[:-] /))) return null
    const schema = await loadSchema().catch(() => null)
    const part = schema?.definitions[kind]
    if (!part || context.aborted) return null
    const found = suggestionsAt(state.doc.toString(), pos, { part, definitions: schema.definitions })
    if (!found) return null
    const labels = new Set(found.options.map(({ label }) => label))
    // Enter after a word that is whole already is for the next line.
    if (!explicit && labels.has(state.sliceDoc(found.from, pos))) return null
    return {
      from: found.from,
      options: found.options.map(completion),
      validFor: (text) => /^[\w-]*$/.test(text) && !labels.has(text),
    }
  }

const loadSchema = async () => (await loadPart(() => import('virtual:document-schema'))).default

const DIGITS = 4
const completion = ({ label, type, isRequired, description, text }: Suggestion, place: number): Completion => ({
  label,
  detail: [type, isRequired ? 'required' : ''].filter(Boolean).join(', '),
  ...(description !== '' && { info: description }),
  sortText: String(place).padStart(DIGITS, '0'),
  apply: (view, picked, from, to) => insert(view, picked, { text, from, to }),
})

interface Insertion {
  readonly text: string
  readonly from: number
  readonly to: number
}
/** The next word is offered at once. */
function insert(view: EditorView, picked: Completion, { text, from, to }: Insertion): void {
  view.dispatch({ ...insertCompletionText(view.state, text, from, to), annotations: pickedCompletion.of(picked) })
  if (/\s$/.test(text)) startCompletion(view)
}
