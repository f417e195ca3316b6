import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The dashboard's colours, lengths and durations are tokens, in one file. */
const SRC = join(import.meta.dirname, '../../web-playground/src')
const TOKENS = 'styles/design-tokens.css'

const read = (file: string): string => readFileSync(join(SRC, file), 'utf8')
const sources = (pattern: string): ReadonlyMap<string, string> =>
  new Map(globSync(pattern, { cwd: SRC }).map((file) => [file, read(file)]))
const styles = sources('**/*.css')
const code = [...sources('**/*.{ts,tsx}').values()].join('\n')
const css = [...styles.values()].map(withoutComments).join('\n')
const tokens = withoutComments(read(TOKENS))

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '')
}
const found = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].map(([whole, name]) => name ?? whole)),
]

const MEDIA = ['(max-width: 1000px)', '(max-width: 700px)', '(prefers-reduced-motion: reduce)']
const COLOUR =
  /#[\da-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|light-dark)\(|:[^;{}]*[ (,](?:white|black|gr[ae]y|red|green|blue|orange|yellow|purple|silver)\b/gi
/** `ch` is the width of text, `fr` and `%` are parts of what is there. */
const LENGTH = /(?<![\w.-])-?[\d.]*\d(?:px|r?em|pt|pc|cm|mm|in|ex|m?s)\b/g

/** Colours, lengths and media queries that are no tokens. */
function rawValues(text: string): readonly string[] {
  const plain = withoutComments(text)
  const queries = found(plain, /@media ([^{]+?) *\{/g).filter((query) => !MEDIA.includes(query))
  const rest = plain.replaceAll(/@media [^{]+/g, '')
  return [...queries, ...found(rest, COLOUR), ...found(rest, LENGTH)]
}

test('style sheets have no colours and lengths of their own', () => {
  const inCode = 'pages/create/code-theme.ts'
  const raw = [...styles, [inCode, read(inCode)] as const]
    .filter(([file]) => file !== TOKENS)
    .flatMap(([file, text]) => rawValues(text).map((value) => `${file}: ${value}`))
  expect(raw).toEqual([])
  expect(styles.size).toBeGreaterThan(10)
})

test.each([
  ['.a { color: #fff }', '#fff'],
  ['.a { border: 1px solid var(--line) }', '1px'],
  ['.a { margin: -0.5rem auto }', '-0.5rem'],
  ['.a { transition: color 120ms }', '120ms'],
  ['.a { background: rgb(0 0 0) }', 'rgb('],
  ['@media (max-width: 813px) { .a { gap: 0 } }', '(max-width: 813px)'],
])('%s is refused', (text, value) => expect(rawValues(text)).toEqual([value]))

test('a red link is refused, and what a token and a column of text are is not', () => {
  expect(rawValues('.a { color: red }')).toHaveLength(1)
  expect(rawValues('.is-red { color: var(--failed); width: 12ch; flex: 1; opacity: 0.5; height: 50vh }')).toEqual([])
})

test('each token that is used is there, and each that is there is used', () => {
  const declared = found(css, /(?<![\w-])(--[\w-]+):/g)
  const used = found(`${css}\n${code}`, /var\((--[\w-]+)/g)
  const own = used.filter((name) => !declared.includes(name) && !code.includes(`'${name}'`))
  expect(own).toEqual([])
  expect(found(tokens, /(?<![\w-])(--[\w-]+):/g).filter((name) => !used.includes(name))).toEqual([])
})

test('each class of a style sheet is one that something draws', () => {
  const isDrawn = (name: string): boolean =>
    new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code) ||
    [...name.matchAll(/-/g)].some(({ index }) => code.includes(`${name.slice(0, index + 1)}\${`))
  const selectors = css.replaceAll(/\{[^{}]*\}/g, '{}')
  const names = found(selectors, /\.(-?[a-z][\w-]*)/gi)
  // Packages draw their own.
  expect(names.filter((name) => !/^(react-flow|graphiql)/.test(name) && !isDrawn(name))).toEqual([])
  expect(names.length).toBeGreaterThan(200)
})

test('lists that draw only the rows in view know their heights, and where they have two lines', () => {
  const heights = read('ui/row-height.ts')
  const px = (name: string): number => Number(new RegExp(`${name}: (\\d+)px`).exec(tokens)?.[1])
  expect(heights).toContain(`ROW_PX = ${px('--row')}\n`)
  expect(heights).toContain(`TWO_LINES_PX = ${px('--row-two-lines')}\n`)
  expect(heights).toContain(MEDIA[0])
})

/** Pairs of a light and a dark colour. */
const colours = new Map(
  [...tokens.matchAll(/--([\w-]+): light-dark\((#[\da-f]+), (#[\da-f]+)\)/g)].map(([, name = '', ...both]) => [
    name,
    both,
  ]),
)
const NO_TEXT = ['back', 'card', 'hover', 'line', 'shade', 'on-accent']
const GROUNDS = ['back', 'card', 'hover']

test('text can be read on each ground, light and dark', () => {
  const pairs = [
    ...[...colours.keys()]
      .filter((name) => !NO_TEXT.includes(name))
      .flatMap((name) => GROUNDS.map((ground) => [name, ground] as const)),
    ['on-accent', 'accent'] as const,
  ]
  expect(pairs.length).toBeGreaterThan(30)
  const low = pairs.flatMap(([text, ground]) =>
    [0, 1].flatMap((look) => {
      const ratio = contrast(colours.get(text)?.[look] ?? '', colours.get(ground)?.[look] ?? '')
      return ratio >= 4.5 ? [] : [`${text} on ${ground}, ${look === 0 ? 'light' : 'dark'}: ${ratio.toFixed(2)}`]
    }),
  )
  expect(low).toEqual([])
})

/** As WCAG 2 defines it. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}
function luminance(colour: string): number {
  const digits = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join('') : colour.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((from) => {
    const part = Number.parseInt(digits.slice(from, from + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test('nothing moves for those who want no motion', () => {
  expect(tokens).toMatch(/@media \(prefers-reduced-motion: reduce\) \{\s*:root \{\s*--motion: 0s;/)
  for (const moving of found(css, /(?:transition|animation): ([^;]+);/g)) expect(moving).toMatch(/var\(--motion\)/)
})
