import { useModal } from './use-modal.ts'

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K, Cmd K', 'Find objects, pages, views and forms; the same closes it'],
  ['?', 'These shortcuts'],
  ['Escape', 'Close a dialog or a menu'],
  ['Tab, Shift Tab', 'The next or previous link, button or field; the first one skips to the page'],
  ['Arrow keys', 'Scroll a list, a diagram or a table; move in the results of a search'],
  ['Left, Right, Home, End', 'History of a tree: one change back or forward, the first change, now'],
  ['Shift and a click', 'Select the rows up to there'],
  ['Escape, then Tab', 'Leave the YAML editor, in which Tab indents'],
]

/** The keyboard shortcuts of the dashboard. */
export default function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const modal = useModal(onClose)
  return (
    <dialog {...modal} aria-labelledby="keys-title">
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <dl className="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </dialog>
  )
}
