import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours of the page, light and dark: custom properties reach into the shadow root. */
export const codeTheme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    background: 'var(--card)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    maxHeight: 'var(--editor-height, 34rem)',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': {
    font: '13px / 1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
    overflow: 'auto',
    minHeight: 'var(--editor-least, 8rem)',
  },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-gutters': { color: 'var(--quiet)', background: 'var(--card)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused .cm-matchingBracket': { background: 'color-mix(in srgb, var(--accent) 20%, transparent)' },
  '.cm-tooltip': { color: 'var(--text)', background: 'var(--card)', border: '1px solid var(--line)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '30rem' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--failed)' },
  '.cm-line.cm-wrong': { background: 'color-mix(in srgb, var(--failed) 12%, transparent)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failed)',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker-error': { content: 'none' },
  '.cm-lint-marker-error::before': { content: '"✗"', color: 'var(--failed)', fontWeight: '700' },
  '.cm-gutter-lint': { width: '1.2em' },
})

export const codeColours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--done)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--undoing)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--removing)' },
])
