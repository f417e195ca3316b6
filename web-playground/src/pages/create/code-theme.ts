import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours of the page, light and dark: custom properties reach into the shadow root. */
export const codeTheme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    background: 'var(--card)',
    border: 'var(--edge)',
    borderRadius: 'var(--radius-m)',
    maxHeight: 'var(--width-6)',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: 'var(--focus)', outlineOffset: 'var(--hair)' },
  '.cm-scroller': {
    font: 'var(--font-s) / 1.5 var(--mono)',
    overflow: 'auto',
    minHeight: 'var(--editor-least)',
  },
  '.cm-content': { caretColor: 'var(--text)', padding: 'var(--space-2) 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-gutters': { color: 'var(--quiet)', background: 'var(--card)', borderRight: 'var(--edge)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused .cm-matchingBracket': { background: 'color-mix(in srgb, var(--accent) 20%, transparent)' },
  '.cm-tooltip': { color: 'var(--text)', background: 'var(--card)', border: 'var(--edge)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    font: 'var(--font-s) / 1.5 var(--mono)',
    minWidth: 'min(var(--width-4), 80vw)',
    maxHeight: 'var(--width-3)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: 'var(--space-1) var(--space-2)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: 'var(--text)', background: 'var(--hover)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal' },
  '.cm-tooltip.cm-completionInfo': { font: 'var(--font-s) / 1.5 var(--sans)', padding: 'var(--space-2)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: 'var(--width-6)' },
  '.cm-diagnostic-error': { borderLeft: 'var(--stripe) solid var(--failed)' },
  '.cm-line.cm-wrong': { background: 'color-mix(in srgb, var(--failed) 12%, transparent)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failed)',
    textUnderlineOffset: 'var(--stripe)',
  },
  '.cm-lint-marker-error': { content: 'none' },
  '.cm-lint-marker-error::before': { content: '"✗"', color: 'var(--failed)', fontWeight: '700' },
  '.cm-gutter-lint': { width: 'var(--space-4)' },
})

export const codeColours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--done)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--undoing)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--removing)' },
])
