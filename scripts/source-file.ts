import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync } from 'vite'

/** Reads what scripts measure of a source file from its syntax tree. */

const HOME = join(import.meta.dirname, '..')

export interface Part {
  readonly location: string
  readonly lines: number
}
export interface Import {
  readonly from: string
  readonly to: string
  /** It is gone once types are stripped. */
  readonly isType: boolean
}
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: number
  /** Types, classes and functions that the file declares at its top. */
  readonly names: ReadonlySet<string>
  /** Functions with a name: a callback belongs to the function that it is written in. */
  readonly functions: readonly Part[]
  readonly imports: readonly Import[]
  /** Identifiers, strings, patterns, and paths of what is imported; no comments. */
  readonly words: ReadonlySet<string>
}

/** A node of the syntax tree, as far as this looks into it. */
interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}
const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

type Visit = (node: SyntaxNode, parent: SyntaxNode | null) => void

export function readSource(path: string): SourceFile {
  const text = readFileSync(join(HOME, path), 'utf8')
  const { program } = parseSync(path, text)
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const functions: Part[] = []
  const imports: Import[] = []
  const words = new Set<string>()
  const names = new Set(program.body.flatMap((node) => declaredName(node as unknown as SyntaxNode) ?? []))
  walk(program, (node, parent) => {
    const name = functionName(node, parent)
    if (name !== null) {
      const first = lineAt(node.start)
      functions.push({ location: `${path}:${first} ${name}`, lines: lineAt(node.end) - first + 1 })
    }
    const to = importedBy(node, path)
    if (to !== null) imports.push({ from: path, to, isType: isTypeOnly(node) })
    const word = to ?? wordOf(node, parent)
    if (word !== null) words.add(word)
  })
  return { path, text, lines: text.split('\n').length - 1, names, functions, imports, words }
}

function walk(value: unknown, visit: Visit, parent: SyntaxNode | null = null): void {
  if (Array.isArray(value)) for (const one of value) walk(one, visit, parent)
  if (!isNode(value)) return
  visit(value, parent)
  for (const child of Object.values(value)) walk(child, visit, value)
}

const DECLARES = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration', 'FunctionDeclaration']

/** Null: it declares no type, class or function. */
function declaredName(node: SyntaxNode): string | null {
  if (isNode(node.declaration)) return declaredName(node.declaration)
  if (node.type === 'VariableDeclaration' && Array.isArray(node.declarations)) {
    const [{ id, init }] = node.declarations
    return init?.type === 'ArrowFunctionExpression' && isNode(id) ? String(id.name) : null
  }
  return DECLARES.includes(node.type) && isNode(node.id) ? String(node.id.name) : null
}

const HAS_NAME = ['VariableDeclarator', 'MethodDefinition', 'PropertyDefinition']

/** Null: no function, or a callback. */
function functionName(node: SyntaxNode, parent: SyntaxNode | null): string | null {
  if (!isNode(node.body)) return null
  if (node.type === 'FunctionDeclaration') return isNode(node.id) ? String(node.id.name) : 'default'
  if (node.type !== 'FunctionExpression' && node.type !== 'ArrowFunctionExpression') return null
  if (!parent || !HAS_NAME.includes(parent.type)) return null
  const name = parent.id ?? parent.key
  return isNode(name) ? String(name.name) : 'default'
}

const IMPORTS = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression']

/** The path from the top of the repository; null: it imports nothing of ours. */
function importedBy({ type, source }: SyntaxNode, path: string): string | null {
  const from = IMPORTS.includes(type) && isNode(source) ? String(source.value) : ''
  return from.startsWith('.') ? posix.join(dirname(path), from) : null
}

function isTypeOnly({ importKind, exportKind, specifiers }: SyntaxNode): boolean {
  if (importKind === 'type' || exportKind === 'type') return true
  const named = Array.isArray(specifiers) ? specifiers.filter(isNode) : []
  return named.length > 0 && named.every((one) => one.importKind === 'type' || one.exportKind === 'type')
}

function wordOf({ type, name, value, regex }: SyntaxNode, parent: SyntaxNode | null): string | null {
  if (parent && IMPORTS.includes(parent.type)) return null
  if (type === 'Identifier' || type === 'JSXIdentifier') return String(name)
  if (type === 'TemplateElement') return String((value as { readonly cooked: string }).cooked)
  if (type !== 'Literal') return null
  if (regex) return (regex as { readonly pattern: string }).pattern
  return typeof value === 'string' ? value : null
}
