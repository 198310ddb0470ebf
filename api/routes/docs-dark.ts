/**
 * What /docs looks like where a dark page is wanted. The colours of Swagger UI stand in hundreds of
 * its rules, so the whole page is turned over at once, and its hues back again. What is dark, or
 * coloured below white letters, on the bright page is turned over twice and so stays as it was.
 */
export const DARK_STYLES = `html {
  color-scheme: dark;
  background: #fff;
  filter: invert(0.9) hue-rotate(180deg);
}
body {
  color-scheme: light;
}
.swagger-ui .dialog-ux .backdrop-ux {
  background: rgb(255 255 255 / 80%);
}
.swagger-ui .highlight-code,
.swagger-ui .curl-command .curl,
.swagger-ui .request-url pre,
.swagger-ui .opblock-summary-method,
.swagger-ui .btn.execute,
.swagger-ui .download-contents {
  filter: invert(1) hue-rotate(180deg);
}
.swagger-ui .copy-to-clipboard {
  z-index: 1;
}
`;
