import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { callJson, getJson } from '../lib/http.mjs'

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', html: 'text/html; charset=utf-8' }
const POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:"

/** The web page: rendered with the products of the API, its assets from the built folder, `/api/` handed through. */
export async function createService({ api, assets, title = 'Shop' }) {
  const files = new Map()
  for (const file of await readdir(assets)) files.set(`/assets/${file}`, await readFile(join(assets, file), 'utf8'))
  const nameOf = (ending) => [...files.keys()].find((path) => path.endsWith(ending)) ?? ''
  const template = files.get(nameOf('.html')) ?? ''

  async function page() {
    const products = (await getJson(`${api}/api/products`)) ?? []
    const slots = {
      title: html(title),
      css: nameOf('.css'),
      js: nameOf('.js'),
      products: products.map(card).join('\n'),
      count: String(products.length),
    }
    const content = template.replaceAll(/\{\{(\w+)\}\}/g, (_, slot) => slots[slot] ?? '')
    return { type: TYPES.html, content, headers: { 'content-security-policy': POLICY, 'cache-control': 'no-store' } }
  }

  return async ({ method, path, body }) => {
    if (path.startsWith('/api/')) return (await callJson(method, `${api}${path}`, body)) ?? undefined
    if (method !== 'GET') return undefined
    if (path === '/') return await page()
    const content = path.endsWith('.html') ? undefined : files.get(path)
    const type = TYPES[path.split('.').at(-1)]
    return content === undefined
      ? undefined
      : { type, content, headers: { 'cache-control': 'max-age=31536000, immutable' } }
  }
}

const card = ({ id, name, text, cents, hue, icon }) => `<article class="card" data-id="${html(id)}">
  <svg viewBox="0 0 64 64" class="hue-${Number(hue)}" aria-hidden="true"><path d="${html(icon)}"/></svg>
  <h2>${html(name)}</h2>
  <p>${html(text)}</p>
  <footer><strong>${price(cents)}</strong><button type="button">Add to cart</button></footer>
</article>`

const price = (cents) => `€ ${(cents / 100).toFixed(2)}`
const html = (text) => String(text).replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
