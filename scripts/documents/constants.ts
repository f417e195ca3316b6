import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ESTree, parseSync } from 'vite'

/** The constants of modules, evaluated as TypeScript evaluates literal types: strings, templates, sums, imports. */

export type Node = ESTree.Node
interface Binding {
  readonly from: string
  readonly name: string
}
export interface Module {
  readonly file: string
  readonly source: string
  readonly program: Node
  /** By name; null where two scopes of the file declare it. */
  readonly constants: ReadonlyMap<string, Node | null>
  readonly imports: ReadonlyMap<string, Binding>
}

/** Packages of this project that its own files import by name. */
const OWN_PACKAGES: Readonly<Record<string, string>> = {
  'phaseline/client': 'src/client/index.ts',
  'phaseline/client-model': 'src/client-model/index.ts',
  'phaseline/manifest': 'src/manifest/index.ts',
  'phaseline/sign-in': 'src/sign-in/index.ts',
}

type OnNamed = (text: string) => void

export class Modules {
  readonly #root: string
  readonly #modules = new Map<string, Module>()

  constructor(root: string) {
    this.#root = root
  }

  read(file: string): Module {
    const known = this.#modules.get(file)
    if (known) return known
    const source = readFileSync(join(this.#root, file), 'utf8')
    const program = parseSync(file, source).program as Node
    const module = { file, source, program, ...bindingsOf(program) }
    this.#modules.set(file, module)
    return module
  }

  /**
   * The string that an expression is, or undefined when only the running program knows it. Calls back with each named
   * constant that it is built from.
   */
  evaluate(node: Node, module: Module, onNamed: OnNamed): string | undefined {
    if (node.type === 'Literal')
      return typeof node.value === 'string' || typeof node.value === 'number' ? String(node.value) : undefined
    if (node.type === 'TemplateLiteral') return this.#join(node, module, onNamed)
    if (node.type === 'TSAsExpression' || node.type === 'ParenthesizedExpression')
      return this.evaluate(node.expression, module, onNamed)
    if (node.type !== 'Identifier') return undefined
    const text = this.#named(node.name, module, onNamed)
    if (text !== undefined) onNamed(text)
    return text
  }

  #join({ quasis, expressions }: ESTree.TemplateLiteral, module: Module, onNamed: OnNamed): string | undefined {
    let text = quasis[0]?.value.cooked ?? ''
    for (const [index, expression] of expressions.entries()) {
      const value = this.evaluate(expression, module, onNamed)
      if (value === undefined) return undefined
      text += value + (quasis[index + 1]?.value.cooked ?? '')
    }
    return text
  }

  #named(name: string, module: Module, onNamed: OnNamed): string | undefined {
    const constant = module.constants.get(name)
    if (constant) return this.evaluate(constant, module, onNamed)
    const binding = module.imports.get(name)
    const file = binding && this.#resolve(binding.from, module.file)
    return file === undefined ? undefined : this.#named(binding?.name ?? name, this.read(file), onNamed)
  }

  #resolve(from: string, file: string): string | undefined {
    const path = from.startsWith('.') ? join(dirname(file), from) : OWN_PACKAGES[from]
    return path !== undefined && existsSync(join(this.#root, path)) ? path : undefined
  }
}

function bindingsOf(program: Node): Pick<Module, 'constants' | 'imports'> {
  const constants = new Map<string, Node | null>()
  const imports = new Map<string, Binding>()
  walk(program, (node) => {
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init)
      constants.set(node.id.name, constants.has(node.id.name) ? null : node.init)
    if (node.type === 'ImportDeclaration')
      for (const part of node.specifiers)
        if (part.type === 'ImportSpecifier') imports.set(part.local.name, bindingTo(node.source, part.imported))
    if (node.type === 'ExportNamedDeclaration' && node.source)
      for (const part of node.specifiers) imports.set(nameOf(part.exported), bindingTo(node.source, part.local))
  })
  return { constants, imports }
}

const bindingTo = (source: ESTree.StringLiteral, name: ESTree.ModuleExportName): Binding => ({
  from: source.value,
  name: nameOf(name),
})
const nameOf = (name: ESTree.ModuleExportName): string => (name.type === 'Literal' ? name.value : name.name)

/** Visits a node and all that it contains, in the order of the source. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node) as unknown[])
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit)
}
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
