import { Suspense, useId, useRef } from 'react'
import type { TextProblem } from '../../model/manifest-text.ts'
import { plural } from '../../model/words.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Loading } from '../../ui/states.tsx'
import type { CodeEditorHandle } from './code-editor.tsx'

const CodeEditor = lazyPart(() => import('./code-editor.tsx'))

interface Props {
  readonly label: string
  readonly value: string
  readonly problems: readonly TextProblem[]
  readonly onChange: (value: string) => void
  readonly small?: boolean
  /** The kind of the document, whose keys and values it completes; left out: the schema of the text is unknown. */
  readonly kind?: string
}
const HELP = 'Tab indents. To leave with the keyboard press Escape, then Tab.'
const COMPLETES = 'Ctrl Space lists what may be written.'
const SHOWN = 50

/** An editor for YAML, with the problems of its text below. */
export function EditorField({ label, value, problems, onChange, small = false, kind }: Props) {
  const editor = useRef<CodeEditorHandle>(null)
  const id = useId()
  const help = kind === undefined ? HELP : `${COMPLETES} ${HELP}`
  return (
    <section className={small ? 'editor small' : 'editor'} aria-labelledby={id}>
      <div className="editor-head">
        <h2 id={id}>{label}</h2>
        <span className="quiet">{help}</span>
      </div>
      <Suspense fallback={<Loading what="the editor" />}>
        <CodeEditor ref={editor} help={help} {...{ label, value, problems, onChange, kind }} />
      </Suspense>
      <Problems problems={problems} onGo={(line, column) => editor.current?.goTo({ line, column })} />
    </section>
  )
}

interface ProblemsProps {
  readonly problems: readonly TextProblem[]
  readonly onGo: (line: number, column: number) => void
}
function Problems({ problems, onGo }: ProblemsProps) {
  const count = problems.length
  const inOrder = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  return (
    <div className="text-problems">
      <p role="status" className={count > 0 ? 'wrong' : 'hidden'}>
        {count > 0 && `✗ ${plural(count, 'problem')}`}
      </p>
      {count > 0 && (
        <ul aria-label="Problems">
          {inOrder.slice(0, SHOWN).map(({ path, message, line, column = 1 }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
            <li key={i}>
              {line !== undefined && (
                <button type="button" className="place" onClick={() => onGo(line, column)}>
                  Line {line}, column {column}
                </button>
              )}
              <span>
                {path && <code>{path}</code>} {message}
              </span>
            </li>
          ))}
          {count > SHOWN && <li className="quiet">and {plural(count - SHOWN, 'more problem')}</li>}
        </ul>
      )}
    </div>
  )
}
