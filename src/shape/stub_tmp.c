/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers */
#include "shape/shape.h"
#include "math/rotation.h"
#include <string.h>
__attribute__((weak)) void saltusi_shape_box(const saltusi_shape* shape, const saltusi_carrier* at, double low[3],
                       double high[3]) {
  double c[3]; saltusi_turn(at->R, shape->centre, c);
  for (int k=0;k<3;k++) { low[k]=at->x[k]+c[k]-shape->radius; high[k]=at->x[k]+c[k]+shape->radius; }
}
__attribute__((weak)) saltus_status saltus_shape_weigh(const saltus_shape_def* def, int dimension,
                                            saltus_log log, saltus_shape_mass* mass) {
  (void)log;(void)dimension;
  memset(mass,0,sizeof *mass); memcpy(mass->centre,def->position,sizeof mass->centre);
  if (def->kind==SALTUS_SHAPE_SPHERE) { double r=def->radius; mass->volume=4.0/3.0*3.14159265358979323846*r*r*r; for (int k=0;k<3;k++) mass->inertia[k]=0.4*mass->volume*r*r; }
  else if (def->kind==SALTUS_SHAPE_CIRCLE) { double r=def->radius; mass->volume=3.14159265358979323846*r*r; mass->inertia[0]=0.5*mass->volume*r*r; }
  else if (def->kind==SALTUS_SHAPE_BOX) { const double *s=def->size; mass->volume=s[0]*s[1]*s[2]; for(int k=0;k<3;k++) mass->inertia[k]=mass->volume/12*(s[(k+1)%3]*s[(k+1)%3]+s[(k+2)%3]*s[(k+2)%3]); }
  else if (def->kind==SALTUS_SHAPE_POLYGON) { const double* p=def->points; double a=0,cx=0,cy=0,J=0; int n=def->point_count; for (int i=0;i<n;i++){ const double *x=p+2*i,*y=p+2*((i+1)%n); double k=x[0]*y[1]-x[1]*y[0]; a+=k/2; cx+=k*(x[0]+y[0])/6; cy+=k*(x[1]+y[1])/6; J+=k*(x[0]*x[0]+x[0]*y[0]+y[0]*y[0]+x[1]*x[1]+x[1]*y[1]+y[1]*y[1])/12; } cx/=a;cy/=a; mass->volume=a; mass->centre[0]+=cx; mass->centre[1]+=cy; mass->inertia[0]=J-a*(cx*cx+cy*cy);}
  return SALTUS_OK;
}
