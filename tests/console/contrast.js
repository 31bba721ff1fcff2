// The texts of a page whose contrast is below WCAG AA (4.5, or 3 for large ones), with the ratio. Colours are read by
// painting them, since the page gives them in oklch.
() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paint = canvas.getContext("2d", { willReadFrequently: true });

  function rgba(color) {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  }
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  function background(element) {
    const layers = [];
    for (let node = element; node; node = node.parentElement) {
      const layer = rgba(getComputedStyle(node).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  }
  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }
  function isShown(element) {
    const box = element.getBoundingClientRect();
    const hidden = element.closest("script, style, textarea, [hidden], .material-symbols-outlined");
    return !hidden && box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  }

  const faint = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim();
    const element = texts.currentNode.parentElement;
    if (!text || !element || !isShown(element)) continue;
    const style = getComputedStyle(element);
    const behind = background(element);
    const lights = [luminance(over(rgba(style.color), behind)), luminance(behind)].sort((a, b) => b - a);
    const ratio = (lights[0] + 0.05) / (lights[1] + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faint[`${text.slice(0, 30)} (${element.className || element.tagName})`] = ratio.toFixed(2);
  }
  return faint;
}
