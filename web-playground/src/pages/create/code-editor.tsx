import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import type { Place } from 'phaseline/manifest'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import type { TextProblem } from '../../model/manifest-text.ts'
import { completionOf } from './code-completion.ts'
import { codeColours, codeTheme } from './code-theme.ts'

export interface CodeEditorHandle {
  goTo(place: Place): void
}
interface Props {
  readonly label: string
  readonly help: string
  readonly kind: string | undefined
  readonly value: string
  readonly problems: readonly TextProblem[]
  readonly onChange: (value: string) => void
  readonly ref?: Ref<CodeEditorHandle>
}

/**
 * CodeMirror in a shadow root. Its styles are style sheet objects there, which the page's policy allows; in the
 * document they would be style elements, which it refuses.
 */
export default function CodeEditor({ label, help, kind, value, problems, onChange, ref }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const change = useRef(onChange)
  change.current = onChange
  const attributes = useRef(new Compartment())
  /** Texts that were sent to `onChange` and have not come back: meanwhile the editor is ahead of them. */
  const sent = useRef<readonly string[]>([])

  // biome-ignore lint/correctness/useExhaustiveDependencies: later values are dispatched to the one editor
  useEffect(() => {
    if (!host.current) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const tell = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
      if (!docChanged || transactions.every((one) => one.isUserEvent(FROM_OUTSIDE))) return
      const text = state.doc.toString()
      sent.current = [...sent.current, text]
      change.current(text)
    })
    const extensions = [
      BASE,
      kind === undefined ? [] : completionOf(kind),
      tell,
      attributes.current.of(attributesOf(label, help, false)),
    ]
    const made = new EditorView({ root, parent: root, state: EditorState.create({ doc: value, extensions }) })
    view.current = made
    return () => {
      view.current = null
      made.destroy()
    }
  }, [])

  useEffect(() => {
    const { current } = view
    if (!current) return
    const own = sent.current.lastIndexOf(value)
    sent.current = sent.current.slice(own + 1)
    if (own >= 0) return
    const changes = difference(current.state.doc.toString(), value)
    if (changes) current.dispatch({ changes, userEvent: FROM_OUTSIDE })
  }, [value])

  useEffect(() => {
    const { current } = view
    if (!current) return
    const wrong = problems.length > 0
    current.dispatch({ effects: attributes.current.reconfigure(attributesOf(label, help, wrong)) })
    current.dispatch(setDiagnostics(current.state, diagnosticsOf(current.state.doc, problems)))
  }, [label, help, problems])

  useImperativeHandle(ref, () => ({
    goTo(place) {
      const { current } = view
      if (!current) return
      const { from } = rangeAt(current.state.doc, place)
      current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
      current.focus()
    },
  }))
  return <div ref={host} className="code" />
}

const FROM_OUTSIDE = 'outside'

/** A browser that replaces a selection copies its look into style attributes, which the page's policy refuses. */
const replaceSelected = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view
    if (event.inputType !== 'insertText' || event.data === null || event.isComposing) return false
    if (state.readOnly || state.selection.main.empty) return false
    view.dispatch(state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true })
    event.preventDefault()
    return true
  },
})
const BASE: Extension = [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  bracketMatching(),
  indentOnInput(),
  indentUnit.of('  '),
  yaml(),
  syntaxHighlighting(codeColours),
  codeTheme,
  replaceSelected,
  // Tab indents; Escape and then Tab leaves the editor, as by CodeMirror's default.
  keymap.of([indentWithTab, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
]

const attributesOf = (label: string, help: string, wrong: boolean): Extension =>
  EditorView.contentAttributes.of({
    'aria-label': label,
    // The description is outside of the shadow root, where ids do not reach.
    'aria-description': help,
    'aria-invalid': String(wrong),
    // The element takes the focus without a tabindex; tools that check pages do not know that.
    tabindex: '0',
    spellcheck: 'false',
    autocapitalize: 'off',
  })

/** Replaces only the part that differs, so that the cursor keeps its place. */
function difference(before: string, after: string) {
  if (before === after) return null
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from += 1
  let same = 0
  while (same < most - from && before.at(-1 - same) === after.at(-1 - same)) same += 1
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) }
}

const diagnosticsOf = (doc: Text, problems: readonly TextProblem[]): readonly Diagnostic[] =>
  problems
    .flatMap(({ line, column, path, message }) =>
      line === undefined
        ? []
        : [
            {
              ...rangeAt(doc, { line, column: column ?? 1 }),
              severity: 'error' as const,
              message: path ? `${path}: ${message}` : message,
            },
          ],
    )
    .toSorted((a, b) => a.from - b.from)

/** From the place to the end of the token there. */
function rangeAt(doc: Text, { line, column }: Place): { readonly from: number; readonly to: number } {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines))
  const from = Math.min(found.from + column - 1, found.to)
  const rest = found.text.slice(from - found.from).match(/^(?:"[^"]*"|'[^']*'|[^\s,[\]{}]+|.)/)
  return { from, to: Math.min(found.to, from + (rest?.[0].length ?? 0)) }
}
